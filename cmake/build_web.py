#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the dashboard into a folder that every build folder shares, unless it is there already.

    build_web.py WEB OUT NPM NODE

WEB is the folder with package.json, OUT the folder for the pages. A stamp in OUT is the digest of
everything the pages are made from: while it fits, nothing is done. The same goes for node_modules
and the lock file.
"""
import fcntl
import hashlib
import pathlib
import subprocess
import sys

LOCK_FILES = ["package.json", "package-lock.json"]
INPUTS = LOCK_FILES + ["index.html", "vite.config.ts", "tsconfig.json", "src"]


def digest(root, names):
    """Of the names and bytes of all files, in a fixed order."""
    out = hashlib.sha256()
    for name in names:
        path = root / name
        files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
        for file in files:
            data = file.read_bytes()
            out.update(f"{file.relative_to(root)} {len(data)}\n".encode())
            out.update(data)
    return out.hexdigest()


def is_fresh(stamp, wanted):
    return stamp.is_file() and stamp.read_text() == wanted


def main():
    web, out = (pathlib.Path(each).resolve() for each in sys.argv[1:3])
    npm, node = sys.argv[3:]
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another build folder may be at it

        modules = web / "node_modules" / ".holdfast-stamp"
        wanted = digest(web, LOCK_FILES)
        if not is_fresh(modules, wanted):
            print("Installing what the dashboard is built with", flush=True)
            subprocess.run([npm, "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=web, check=True)
            modules.write_text(wanted)

        stamp = out / "stamp"
        wanted = digest(web, INPUTS)
        if not is_fresh(stamp, wanted):
            print("Building the dashboard", flush=True)
            stamp.unlink(missing_ok=True)
            subprocess.run([node, "node_modules/vite/bin/vite.js", "build", "--outDir", out / "pages",
                            "--emptyOutDir", "--logLevel", "warn"], cwd=web, check=True)
            stamp.write_text(wanted)


main()
