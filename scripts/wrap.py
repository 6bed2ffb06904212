#!/usr/bin/env python3
"""Wraps the prose of Markdown files at 100 columns: paragraphs and list items. Tables, code, headings, formulas and
HTML stay as they are.

    scripts/wrap.py FILE...          rewrites the files
    scripts/wrap.py --check FILE...  names those that would change, and exits with 1 if there are any
"""
import re
import sys

COLUMNS = 100
ITEM = re.compile(r"^(\s*)([-*+]|\d+\.)\s+")
# What a line must not begin with: Markdown would read it as a list, a heading, a quotation or a table.
STARTS = re.compile(r"^([-+*#>|=]+|\d+[.)])$")


def words(text: str) -> list[str]:
    """The words of a text; code in backticks and formulas are never broken."""
    return re.findall(r"(?:`[^`]*`|\$[^$`]*\$|\S)+", text)


def fill(text: str, first: str, rest: str) -> list[str]:
    lines, line, empty = [], first, True
    for word in words(text):
        if not empty and len(line) + 1 + len(word) > COLUMNS and not STARTS.match(word):
            lines.append(line)
            line, empty = rest, True
        line += ("" if empty else " ") + word
        empty = False
    return lines + [line]


def wrapped(source: str) -> str:
    out: list[str] = []
    text, first, rest = [], "", ""

    def flush() -> None:
        nonlocal text
        if text:
            out.extend(fill(" ".join(text), first, rest))
        text = []

    fence = formula = False
    for line in source.split("\n"):
        bare = line.strip()
        if formula or fence:
            out.append(line)
            fence = fence and not bare.startswith("```")
            formula = formula and "$$" not in bare
            continue
        if bare.startswith("```") or bare.startswith("$$"):
            flush()
            out.append(line)
            fence = bare.startswith("```")
            formula = bare.startswith("$$") and bare.count("$$") == 1
            continue
        item = ITEM.match(line)
        if item:
            flush()
            first, rest = line[: item.end()], " " * item.end()
            text = [line[item.end():]]
            continue
        indent = len(line) - len(line.lstrip())
        if not bare or re.match(r"^(\||#|>|<|!\[|\[[^]]+\]:|---|===|\.\. |:::)", bare):
            flush()
            first = rest = ""
            out.append(line)
        elif text:
            text.append(bare)
        elif indent >= 4 and not rest:
            out.append(line)  # code
        else:
            first = rest = " " * indent
            text = [bare]
        if text and line.endswith("  "):
            raise SystemExit(f"a line ends with two spaces, which would be lost: {line}")
    flush()
    return "\n".join(out)


def main() -> int:
    check, changed = sys.argv[1:2] == ["--check"], []
    for path in sys.argv[2 if check else 1:]:
        with open(path, encoding="utf-8") as file:
            before = file.read()
        after = wrapped(before)
        if after != before:
            changed.append(path)
            if not check:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(after)
    if check and changed:
        print("not wrapped (scripts/wrap.py FILE does it):", *changed)
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
