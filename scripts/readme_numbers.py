#!/usr/bin/env python3
"""The numbers of README.md and docs/results/README.md, from the tables of docs/results.

    scripts/readme_numbers.py           compares them, and exits with 1 where one is not what the table says
    scripts/readme_numbers.py --write   writes those of the tables

With --compare FILE (compare.json of 'aisampler compare mog6 --samplers ai,nuts,rwm') the R-hat under the picture too.
"""
import argparse
import json
import math
import re
import statistics
from collections.abc import Callable
from pathlib import Path

RESULTS = Path("docs/results")


def rows(page: str, header: str, after: str = "") -> list[list[str]]:
    """The cells of the table whose header begins like this, below the line `after`."""
    text = (RESULTS / page).read_text(encoding="utf-8")
    table = text[text.index(after):]
    table = table[table.index(header):].split("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.split("\n")[2:] if line.startswith("|")]


def count(cell: str) -> float:
    """The first number of a cell, 1,234,567 in thousands; infinite where there is none."""
    found = re.match(r"(\d{1,3}(,\d{3})*|\d+)(?=,|$| )", cell)
    return float(found.group(1).replace(",", "")) if found else math.inf


def beside_nuts() -> dict[int, list[float]]:
    """Our evaluations over those of NUTS, for 4,000 and 40,000 effective draws, on the posteriors that NUTS answers."""
    ratios: dict[int, list[float]] = {4000: [], 40000: []}
    for draws, after, column in ((4000, "", 3), (40000, "## To 40,000", 9)):
        for row in rows("posteriordb.md", "| posterior | d |", after):
            nuts, ours = row[column], row[column + 1]
            rhat = re.search(r" (\d+\.\d{3})", nuts[nuts.find(",", nuts.rfind(",") - 9):]) if nuts != "-" else None
            if rhat and float(rhat.group(1)) < 1.05:
                effective = ours.split(", ")[-1] if ours != "-" else "0"
                ratios[draws].append(count(ours) / count(nuts) if count(effective) >= draws else math.inf)
    return ratios


def beside_nautilus() -> tuple[list[float], list[float]]:
    """Our evaluations over the calls of nautilus: up to four dimensions, and in ten."""
    text = (RESULTS / "few_evaluations.md").read_text(encoding="utf-8")
    words = " ".join(text[text.index("nautilus's calls, seed 11:"):].split("\n\n")[0].split())
    calls = {name: float(number.replace(",", "")) for name, number in re.findall(r"([a-z0-9][a-z0-9 =]*?) (\d+,\d+)(?=[, (.])", words)}
    few, ten = [], []
    for row in rows("few_evaluations.md", "| target, seed | evaluations"):
        target = row[0].rsplit(",", 1)[0].replace("gaussian ", "").replace(",", "")
        target = "pair" if target.startswith("pair") else target
        (ten if "d = 10" in target else few).append(count(row[1]) / calls[target])
    return few, ten


def claims(compared: str | None) -> list[tuple[str, str, Callable[[], list[str]]]]:
    """File, a pattern with a group for each number, and what the numbers are."""
    nuts, (few, ten) = beside_nuts(), beside_nautilus()

    def two(value: float) -> str:
        return f"{value:.2f}"

    out = [
        ("README.md", r"on (\d+) posteriors .*?needs (\d+(?:\.\d+)?) of the evaluations of NUTS",
         lambda: [str(len(nuts[4000])), two(statistics.median(nuts[4000]))]),
        ("README.md", r"Without a gradient, (\d+(?:\.\d+)?) to (\d+(?:\.\d+)?) of those of nautilus.*?and (\d+(?:\.\d+)?) to (\d+(?:\.\d+)?) times as many",
         lambda: [two(min(few)), two(max(few)), f"{min(ten):.0f}", f"{max(ten):.0f}"]),
        ("docs/results/README.md", r"(\d+(?:\.\d+)?) of the evaluations of NUTS for 4,000 effective draws and (\d+(?:\.\d+)?) for 40,000 \(medians of (\d+) and (\d+) posteriors",
         lambda: [two(statistics.median(nuts[4000])), two(statistics.median(nuts[40000])), *(str(len(of)) for of in nuts.values())]),
        ("docs/results/README.md", r"(\d+(?:\.\d+)?) to (\d+(?:\.\d+)?) of the evaluations of nautilus",
         lambda: [two(min(few)), two(max(few))]),
    ]
    if compared:
        rhat = {at["sampler"]: at["rhat"] for at in json.loads(Path(compared).read_text(encoding="utf-8"))["samplers"]}
        out.append(("README.md", r"R-hat (\d+(?:\.\d+)?), (\d+(?:\.\d+)?) and (\d+(?:\.\d+)?)",
                    lambda: [f"{rhat['ai']:.2f}", f"{rhat['nuts']:.1f}", f"{rhat['rwm']:.1f}"]))
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--compare", metavar="FILE")
    wish = parser.parse_args()
    wrong = 0
    for path, pattern, numbers in claims(wish.compare):
        text = Path(path).read_text(encoding="utf-8")
        found = re.search(re.sub(" ", r"\\s+", pattern), text, re.S)
        if not found:
            print(f"{path} says nothing like '{pattern}'")
            wrong += 1
            continue
        for i, number in reversed(list(enumerate(numbers(), 1))):
            if found.group(i) == number:
                continue
            wrong += not wish.write
            print(f"{path}: '{' '.join(found.group(0).split())}': {found.group(i)} is {number} by docs/results (scripts/readme_numbers.py --write)")
            text = text[: found.start(i)] + number + text[found.end(i):]
        if wish.write:
            Path(path).write_text(text, encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
