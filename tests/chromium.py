"""Find a Chromium to read the book as a person does; run as a script, get one if there is none."""

import os
import shutil
import subprocess
import sys

# The first, Debian's, draws no window: the others take half as long again for a page, or more.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = ["-o", "Acquire::http::Timeout=10", "-o", "Acquire::Retries=0"]  # of apt-get
QUIET = [  # no sandbox: containers run as root; the rest keeps Chromium from calling its maker
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find():
    """Path of a Chromium: the environment's CHROMIUM, one on the PATH, or Playwright's own; None if there is none."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None) or _playwrights()


def _playwrights():
    ask = "from playwright.sync_api import sync_playwright as s\nwith s() as p: print(p.chromium.executable_path)"
    # In a process of its own: it may be running in this one.
    answer = subprocess.run([sys.executable, "-c", ask], capture_output=True, encoding="utf-8")
    path = answer.stdout.strip()
    return path if os.path.exists(path) else None


def main():
    """Leave 0 if a Chromium is there, or could be installed: as root with apt-get, else by Playwright.

    Where a slower one is there already, such a root gets the fast one beside it.
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
