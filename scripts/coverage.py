#!/usr/bin/env python3
"""What scripts/coverage.sh has measured: a table of lines per folder, public functions, messages of ais_fail.

    python3 scripts/coverage.py BUILD

A source that is compiled several times (lanes, once per instruction set; networks in double) counts as one: a line is
run when it is run in one of them."""

import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent


def counts(build):
    """file -> line -> how often, over all objects that were run."""
    runs = {}
    data = [str(path.resolve()) for path in build.rglob("*.gcda")]
    notes = [str(path.resolve()) for path in build.rglob("*.gcno") if not path.with_suffix(".gcda").exists()]
    for path in data + notes:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["gcov", "--json-format", path], cwd=folder, check=True, capture_output=True)
            for made in pathlib.Path(folder).glob("*.gcov.json.gz"):
                read = json.loads(gzip.decompress(made.read_bytes()))
                for file in read["files"]:
                    name = pathlib.Path(read["current_working_directory"], file["file"]).resolve()
                    if root not in name.parents:
                        continue
                    lines = runs.setdefault(str(name.relative_to(root)), {})
                    for line in file["lines"]:
                        at = line["line_number"]
                        lines[at] = max(lines.get(at, 0), line["count"])
    return runs


def table(runs):
    folders = {}
    for file, lines in runs.items():
        top = file.split("/")
        if top[0] not in ("src", "cli"):
            continue
        folder = folders.setdefault("/".join(top[:2]) if top[0] == "src" else "cli", [0, 0])
        folder[0] += len(lines)
        folder[1] += sum(count > 0 for count in lines.values())
    folders["all"] = [sum(one[k] for one in folders.values()) for k in (0, 1)]
    print("| folder | lines | run by tests | share |\n|---|---|---|---|")
    for folder in sorted(folders, key=lambda name: (name == "all", name)):
        lines, run = folders[folder]
        print(f"| {folder} | {lines} | {run} | {100 * run / lines:.1f}% |")


def public_functions():
    """Functions and tables that the headers declare, as cmake/exports.cmake finds them."""
    text = "\n".join(path.read_text() for path in sorted((root / "include/aisampler").glob("*.h")))
    text = re.sub(r"typedef [a-z]+ ais_[a-z0-9_]+\(", "", re.sub(r"/\*.*?\*/", "", text, flags=re.S))
    return sorted(set(re.findall(r"\b(ais_[a-z0-9_]+)[(\[]", text)))


def never_called():
    """Public functions that no test in C names."""
    tests = "\n".join(path.read_text() for path in (root / "tests").rglob("*.[ch]"))
    return [name for name in public_functions() if not re.search(rf"\b{name}\b", tests)]


def messages(runs):
    """(file, first line, reached, text) of every ais_fail."""
    found = []
    for path in sorted([*root.glob("src/*/*.c"), *root.glob("cli/**/*.c")]):
        name, text = str(path.relative_to(root)), path.read_text()
        for call in re.finditer(r"\bais_fail\(", text):
            literal = re.compile(r'"((?:[^"\\]|\\.)*)"(?:\s*(?:PRI\w+\s*)?"((?:[^"\\]|\\.)*)")*').search(text, call.end())
            first = text.count("\n", 0, call.start()) + 1
            last = text.count("\n", 0, literal.end() if literal else call.end()) + 1
            reached = any(runs.get(name, {}).get(line, 0) > 0 for line in range(first, last + 1))
            if text.rfind("\n", 0, call.start()) + 1 < call.start():  # not its own definition
                found.append((name, first, reached, "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literal.group(0))) if literal else ""))
    return found


def main():
    runs = counts(pathlib.Path(sys.argv[1]))
    table(runs)
    lonely = never_called()
    print(f"\n{len(public_functions())} public functions, {len(lonely)} of which no test calls: {', '.join(lonely) or 'none'}")
    told = messages(runs)
    listed = (root / "tests/unreached.txt").read_text() if (root / "tests/unreached.txt").exists() else ""
    silent = [one for one in told if not one[2]]
    missing = [one for one in silent if f"{one[0]}: {one[3]}" not in listed]
    print(f"{len(told)} messages of ais_fail, {len(told) - len(silent)} reached, {len(silent)} not, of which {len(missing)} are not in tests/unreached.txt")
    for file, line, _, text in missing:
        print(f"{file}: {text}")
    return 1 if lonely or missing else 0


sys.exit(main())
