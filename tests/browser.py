"""Find a Chromium to read the book as a person does; run as a script, get one if there is none."""

import os
import shutil
import subprocess
import sys

# The first, Debian's, draws no window: the others take half as long again for a page.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
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
    """Leave 0 if a Chromium is there, or could be installed: as root with apt-get, else by Playwright."""
    if find() is None and hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        print("installing Debian's chromium-headless-shell for the browser tests", file=sys.stderr)
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in ("update", f"install --no-install-recommends {NAMES[0]}"):
            subprocess.run(["apt-get", "-qq", *command.split()], env=environment, stdout=subprocess.DEVNULL)
    if find() is None:
        print("asking Playwright for a Chromium", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], stdout=subprocess.DEVNULL)
    if find() is None:
        sys.exit("no Chromium for the browser tests: install Debian's package chromium, or set CHROMIUM to its path")


if __name__ == "__main__":
    main()
