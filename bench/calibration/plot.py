"""Ranks of bench/calibration/sbc.c as a figure: python3 bench/calibration/plot.py OUT.svg RANKS.csv...

One panel per model and way, one line per quantity: the distribution function of its ranks less the straight line. The band
holds all of a line in 95 of 100 cases (Kolmogorov)."""
import csv
import sys

WIDTH, HEIGHT, GAP, LEFT, TOP, RANKS = 150, 90, 14, 90, 40, 64


def read(paths):
    ranks = {}
    for path in paths:
        with open(path) as file:
            for row in csv.DictReader(file):
                ranks.setdefault((row["model"], row["way"]), {}).setdefault(row["quantity"], []).append(int(row["rank"]))
    return ranks


def difference(ranks):
    """Of the cumulative share of ranks up to k and (k + 1) / RANKS, for every k."""
    line, below = [0.0], 0
    for k in range(RANKS):
        below += ranks.count(k)
        line.append(below / len(ranks) - (k + 1) / RANKS)
    return line


def panel(x, y, quantities):
    count = len(next(iter(quantities.values())))
    band = 1.358 / count**0.5
    scale = HEIGHT / 2 / (2.2 * band)
    middle = y + HEIGHT / 2
    parts = [f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" fill="white" stroke="#999"/>',
             f'<rect x="{x}" y="{middle - band * scale:.1f}" width="{WIDTH}" height="{2 * band * scale:.1f}" fill="#dde7f3"/>',
             f'<line x1="{x}" y1="{middle}" x2="{x + WIDTH}" y2="{middle}" stroke="#999" stroke-width="0.5"/>']
    for name in sorted(quantities, key=int):
        last = name == max(quantities, key=int)
        points = " ".join(f"{x + WIDTH * k / RANKS:.1f},{middle - min(max(d * scale, -HEIGHT / 2), HEIGHT / 2):.1f}"
                          for k, d in enumerate(difference(quantities[name])))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{"#c0392b" if last else "#2c3e50"}" stroke-width="0.9"/>')
    return parts


def main():
    out, ranks = sys.argv[1], read(sys.argv[2:])
    models, ways = (list(dict.fromkeys(key[i] for key in ranks)) for i in (0, 1))
    width, height = LEFT + len(ways) * (WIDTH + GAP), TOP + len(models) * (HEIGHT + GAP) + 24
    text = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
            f'<rect width="{width}" height="{height}" fill="white"/>']
    for j, way in enumerate(ways):
        text.append(f'<text x="{LEFT + j * (WIDTH + GAP) + WIDTH / 2}" y="{TOP - 12}" text-anchor="middle">{way}</text>')
    for i, model in enumerate(models):
        y = TOP + i * (HEIGHT + GAP)
        text.append(f'<text x="{LEFT - 8}" y="{y + HEIGHT / 2 + 4}" text-anchor="end">{model}</text>')
        for j, way in enumerate(ways):
            if (model, way) in ranks:
                text += panel(LEFT + j * (WIDTH + GAP), y, ranks[model, way])
    text.append(f'<text x="{LEFT}" y="{height - 10}" fill="#555">rank, 0 to {RANKS - 1}: distribution less the straight line; red: log p; band: 95%</text></svg>')
    with open(out, "w") as file:
        file.write("\n".join(text) + "\n")


main()
