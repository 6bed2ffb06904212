"""Doxygen's input filter: the headers' plain comments as those that Doxygen reads, on standard output.

A comment at the head of a file describes the file, one behind a declaration that declaration, any other what follows
it. Lines of dashes are headings for readers of the header. Text is escaped, because people wrote it; lines that are
indented by four are code."""

import pathlib
import re
import sys


def escaped(line):
    return re.sub(r"`([^`]+)`", r"<tt>\1</tt>", re.sub(r"([\\@#%<>])", r"\\\1", line))


def told(body):
    """The lines of a comment, without stars, code as it is."""
    lines = [re.sub(r"^\s*\* ?", "", line).rstrip() for line in body.split("\n")]
    lines[0] = lines[0].strip()
    out, code = [], False
    for line in lines:
        is_code = line.startswith("    ")
        if is_code != code and (is_code or line):
            out.append("@code{.unparsed}" if is_code else "@endcode")
            code = is_code
        out.append(line if is_code else escaped(line))
    return out + ["@endcode"] * code


def convert(text, name):
    def comment(match):
        before, body = match.group(1), match.group(2)
        if body.strip().startswith("----"):
            return match.group(0)
        if match.start() == 0:
            first, *rest = told(re.sub(r"^\s*[\w.]+: ", "", body))
            return f"/** @file {name}\n" + "\n".join([first[:1].upper() + first[1:], *rest]) + "\n*/"
        behind = re.search(r"[;,{]\s*$|\w\s*$", before) and before.strip()
        return before + ("/**< " if behind else "/** ") + "\n".join(told(body)) + " */"

    return re.sub(r"([^\n]*?)/\*(.*?)\*/", comment, text, flags=re.S)


if __name__ == "__main__":
    path = pathlib.Path(sys.argv[1])
    print(convert(path.read_text(), path.name))
