"""Find a Chromium for tests that open pages; as a script, install one if there is none."""

import os
import shutil
import subprocess
import sys

# Debian's headless Chromium comes first, because it draws no window. The others take at least half as long again.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = ["-o", "Acquire::http::Timeout=10", "-o", "Acquire::Retries=0"]  # timeouts of apt-get
QUIET = [  # no sandbox, because containers run as root; the other flags keep Chromium from contacting its maker
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find():
    """Return the path of a Chromium from CHROMIUM, from the PATH or from Playwright, or None if there is none."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None) or _playwrights()


def _playwrights():
    ask = "from playwright.sync_api import sync_playwright as s\nwith s() as p: print(p.chromium.executable_path)"
    # In a separate process, because Playwright may be running in this process.
    answer = subprocess.run([sys.executable, "-c", ask], capture_output=True, encoding="utf-8")
    path = answer.stdout.strip()
    return path if os.path.exists(path) else None


def main():
    """Return 0 if a Chromium exists or can be installed, as root with apt-get and otherwise by Playwright.

    If only a slower Chromium exists, root also gets the fast one.
    """
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if not (os.environ.get("CHROMIUM") or shutil.which(NAMES[0])) and root and shutil.which("apt-get"):
        print(f"installing Debian's {NAMES[0]} for the browser tests", file=sys.stderr)
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in ("update", f"install --no-install-recommends {NAMES[0]}"):
            apt = ["apt-get", "-qq", "-y", *PATIENCE, *command.split()]
            subprocess.run(apt, env=environment, stdout=subprocess.DEVNULL)
    if find() is None:
        print("asking Playwright for a Chromium", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], stdout=subprocess.DEVNULL)
    if find() is None:
        sys.exit("no Chromium for the browser tests: install Debian's package chromium, or set CHROMIUM to its path")


if __name__ == "__main__":
    main()
