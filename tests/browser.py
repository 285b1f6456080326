"""Find a Chromium to read the book as a person does; run as a script, get Debian's if there is none."""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = [  # no sandbox: containers run as root; the rest keeps Chromium from calling its maker
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def find():
    """Path of a Chromium: the environment's CHROMIUM, or one on the PATH; None if there is none."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def main():
    """Leave 0 if a Chromium is there, or could be installed with apt-get as root."""
    if find() is None and hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        print("installing Debian's chromium for the browser tests", file=sys.stderr)
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in ("update", "install --no-install-recommends chromium"):
            subprocess.run(["apt-get", "-qq", *command.split()], env=environment, stdout=subprocess.DEVNULL)
    if find() is None:
        sys.exit("no Chromium for the browser tests: install Debian's package chromium, or set CHROMIUM to its path")


if __name__ == "__main__":
    main()
