#!/usr/bin/env python3
"""Draws docs/architecture.svg: the layers, and who includes whom, as the sources have it today.

    scripts/architecture.py            writes the file
    scripts/architecture.py --check    fails when it is not what would be written

An arrow is an include; one that follows from others (a includes b, b includes c) is left out.
"""
import collections
import pathlib
import sys

import layers

# Where a layer stands, as a column; its height follows from the arrows. What it is, in a few words.
LAYERS = {
    "base": (1.5, "memory, randomness, threads"),
    "simd": (1, "one body per instruction set"),
    "nn": (0.3, "perceptrons, Adam"),
    "map": (0.45, "flows, Hénon layers, whitening"),
    "draws": (2, "draws in memory and in files"),
    "target": (1.5, "the densities"),
    "diagnostics": (2.5, "R-hat, ESS, warnings"),
    "kernel": (1.5, "contract of a kernel, cycles"),
    "classical": (1.5, "random walk, HMC, NUTS"),
    "learned": (0.8, "involutions, transitions, ladders"),
    "file": (0.8, "kernel files"),
    "bench": (3.3, "the hot paths"),
    "checkpoint": (0.8, "what a killed job goes on from"),
    "look": (0, "modes, Laplace fits"),
    "explore": (0.5, "archive, chains, ladders"),
    "judge": (1, "what a kernel is worth"),
    "fit": (1, "objectives, the training loop"),
    "trainer": (1, "a training from start to kernel"),
    "anice": (0.6, "training of A-NICE-MC"),
    "sampler": (2.5, "the loop over chains"),
    "report": (2.75, "text, JSON, figures, pages"),
    "run": (2.75, "the whole job"),
    "command": (1.6, "cli/: the command"),
}
WIDTH, HEIGHT, ACROSS, DOWN, MARGIN = 196, 42, 222, 74, 16


def graph():
    """The layers that each one includes."""
    below = {name: set() for name in LAYERS}
    for path, own in layers.files(pathlib.Path(".")):
        below[own] |= {layer for _, layer, _ in layers.included(path) if layer != own}
    for path in pathlib.Path("cli").glob("**/*.[ch]"):
        if "<aisampler/" in path.read_text():
            below["command"] |= set(layers.HEADERS.values())
    return below


def closure(below):
    everything = {}
    for name in LAYERS:  # the table is in the order of the flow
        everything[name] = below[name].union(*(everything[other] for other in below[name]))
    return everything


def arrows(below):
    """Without those that follow from others."""
    reached = closure(below)
    for name in LAYERS:
        for other in sorted(below[name]):
            if not any(other in reached[between] for between in below[name] - {other}):
                yield name, other


def heights(below):
    level = {}
    for name in LAYERS:
        level[name] = 1 + max((level[other] for other in below[name]), default=-1)
    return level


def draw():
    below = graph()
    level = heights(below)
    top = max(level.values())
    place = {
        name: (MARGIN + column * ACROSS, MARGIN + (top - level[name]) * DOWN) for name, (column, _) in LAYERS.items()
    }
    width = 2 * MARGIN + max(x for x, _ in place.values()) - MARGIN + WIDTH
    height = 2 * MARGIN + top * DOWN + HEIGHT
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}"'
        f' height="{height:g}" font-family="sans-serif">',
        "<title>The layers of aisampler and who includes whom</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#557"/></marker></defs>',
        f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>',
    ]
    lines = list(arrows(below))
    leaving, coming = collections.defaultdict(list), collections.defaultdict(list)
    for a, b in lines:
        leaving[a].append(b)
        coming[b].append(a)

    def port(name, others, other):
        """Arrows share out a side of a box, in the order of where they lead."""
        order = sorted(others, key=lambda each: (place[each][0], place[each][1]))
        return place[name][0] + WIDTH * (order.index(other) + 1) / (len(order) + 1)

    for a, b in lines:
        x, y = port(a, leaving[a], b), place[a][1] + HEIGHT
        to_x, to_y = port(b, coming[b], a), place[b][1]
        bend = (to_y - y) / 2 + 8
        out.append(
            f'<path d="M{x:.0f} {y:.0f}C{x:.0f} {y + bend:.0f} {to_x:.0f} {to_y - bend:.0f} {to_x:.0f} {to_y:.0f}"'
            ' fill="none" stroke="#557" stroke-width="1.3" marker-end="url(#tip)"/>'
        )
    for name, (_, words) in LAYERS.items():
        x, y = place[name]
        out += [
            f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="5" fill="#eef2fb" stroke="#557"/>',
            f'<text x="{x + 9:g}" y="{y + 17:g}" font-size="14" font-weight="bold" fill="#123">{name}</text>',
            f'<text x="{x + 9:g}" y="{y + 33:g}" font-size="11.5" fill="#345">{words}</text>',
        ]
    return "\n".join([*out, "</svg>", ""])


def main():
    path = pathlib.Path("docs/architecture.svg")
    if list(LAYERS) != [*layers.ORDER, "command"]:
        print("scripts/architecture.py has other layers than scripts/layers.py, or another order")
        return 1
    if "--check" not in sys.argv:
        path.write_text(draw())
    elif not path.exists() or path.read_text() != draw():
        print(f"{path} is not what the sources say: python3 scripts/architecture.py writes it")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
