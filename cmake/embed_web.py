#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the files of a folder as a C++ source: server/dashboard/files.hpp says what of them is kept.

    embed_web.py FOLDER OUT.cpp

Without a folder ("") there are no files. The output depends on nothing but the files.
"""
import gzip
import pathlib
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    ".png": "image/png",
}
LINE = 96


def literal(data):
    """As string literals, one per line; three octal digits never run into what follows."""
    plain = {ord('"'): '\\"', ord("\\"): "\\\\", ord("?"): "\\?"}
    escaped = [plain.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in data]
    lines, line = [], ""
    for piece in escaped:
        if len(line) + len(piece) > LINE:
            lines.append(line)
            line = ""
        line += piece
    lines.append(line)
    return "\n".join(f'    "{each}"' for each in lines)


def view(data):
    return f"{{\n{literal(data)},\n    {len(data)}}}"


def main():
    folder, out = sys.argv[1:]
    root = pathlib.Path(folder)
    files = sorted(each for each in root.rglob("*") if each.is_file()) if folder else []
    entries = []
    for file in files:
        data = file.read_bytes()
        packed = gzip.compress(data, compresslevel=9, mtime=0)
        path = file.relative_to(root).as_posix()
        entries.append(f'  WebFile{{"{path}", "{TYPES[file.suffix]}", {view(data)}, {view(packed)}}},')
    body = "\n".join(entries)
    pathlib.Path(out).write_text(f"""// Made from web/ by cmake/embed_web.py.
#include "server/dashboard/files.hpp"

#include <vector>

namespace holdfast::server {{

std::span<const WebFile> web_files() {{
  static const std::vector<WebFile> files{{
{body}
  }};
  return files;
}}

}}  // namespace holdfast::server
""")


main()
