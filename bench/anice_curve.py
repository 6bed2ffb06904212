"""The curves of bench/anice: ESS of x by iteration, as a table and as a picture.

    python3 bench/anice_curve.py docs/results/anice OUTPUT...

reads what build/bench/anice printed with curve=1, one file per target that begins with the target's name, and writes
anice.csv and anice.svg. A bootstrap that was printed twice, by a training that was resumed, counts once.
"""

import csv
import os
import re
import sys

PRINTED = {"heart": 1251, "german": 926, "australian": 1016}  # of 5000 draws, in the paper
DRAWS = 5000
LINE = re.compile(r" +(\d+) after .* acceptance ([\d.]+)  ESS of x ([\d.]+)  of x and x\^2 ([\d.]+)")
WIDTH, HEIGHT, LEFT, TOP, GAP = 230, 200, 50, 30, 30


def read(path):
    rows = {}
    with open(path) as file:
        for line in file:
            if found := LINE.match(line):
                rows[int(found[1])] = [float(number) for number in found.groups()[1:]]
    return sorted(rows.items())


def panel(name, rows, left, longest, top_ess):
    def at(iteration, share):
        return f"{left + WIDTH * iteration / longest:.1f},{TOP + HEIGHT * (1 - DRAWS * share / top_ess):.1f}"

    wanted = TOP + HEIGHT * (1 - PRINTED[name] / top_ess)
    yield f'<text x="{left + WIDTH / 2}" y="{TOP - 10}" text-anchor="middle">{name}</text>'
    yield f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="white" stroke="#999"/>'
    yield f'<line x1="{left}" y1="{wanted:.1f}" x2="{left + WIDTH}" y2="{wanted:.1f}" stroke="#b03a2e"/>'
    yield f'<text x="{left + 4}" y="{wanted - 4:.1f}" fill="#b03a2e">printed {PRINTED[name]}</text>'
    for column, colour, width in ((2, "#7fa6d0", 1), (1, "#2c3e50", 1.5)):
        points = " ".join(at(iteration, row[column]) for iteration, row in rows)
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}"/>'
    for x, y in (at(iteration, row[1]).split(",") for iteration, row in rows):
        yield f'<circle cx="{x}" cy="{y}" r="2" fill="#2c3e50"/>'
    yield f'<text x="{left}" y="{TOP + HEIGHT + 16}" text-anchor="middle">0</text>'
    yield f'<text x="{left + WIDTH}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{longest}</text>'


def picture(curves):
    longest = max(rows[-1][0] for rows in curves.values())
    top_ess = 1.1 * max([*PRINTED.values(), *(DRAWS * row[1] for rows in curves.values() for _, row in rows)])
    width, height = LEFT + len(curves) * (WIDTH + GAP), TOP + HEIGHT + 40
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="12">')
    yield f'<rect width="{width}" height="{height}" fill="white"/>'
    for ess in range(0, int(top_ess), 500):
        yield f'<text x="{LEFT - 6}" y="{TOP + HEIGHT * (1 - ess / top_ess) + 4:.1f}" text-anchor="end">{ess}</text>'
    for place, (name, rows) in enumerate(curves.items()):
        yield from panel(name, rows, LEFT + place * (WIDTH + GAP), longest, top_ess)
    yield f'<text x="{width / 2}" y="{height - 6}" text-anchor="middle">iterations</text>'
    yield "</svg>"


def main():
    to = sys.argv[1]
    found = {re.split(r"\W", os.path.basename(path))[0]: read(path) for path in sys.argv[2:]}
    curves = {name: found[name] for name in PRINTED if found.get(name)}
    with open(to + ".csv", "w", newline="") as file:
        write = csv.writer(file, lineterminator="\n")
        write.writerow(["target", "iteration", "acceptance", "ess_x", "ess_x_and_square"])
        for name, rows in curves.items():
            for iteration, (acceptance, of_x, of_both) in rows:
                write.writerow([name, iteration, acceptance, round(DRAWS * of_x), round(DRAWS * of_both)])
    with open(to + ".svg", "w") as file:
        file.write("\n".join(picture(curves)) + "\n")


if __name__ == "__main__":
    main()
