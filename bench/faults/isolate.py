#!/usr/bin/env python3
"""What --isolate costs: per question (one evaluation, or one batch of 64 points) and per death, on one thread.

    python3 bench/faults/isolate.py build [--repeats 5]

The same chains with and without --isolate, the best of some repeats by the clock of drawing; a death is followed by another one, of the new process."""

import argparse
import json
import pathlib
import subprocess
import tempfile

HEAD = "#include <aisampler/density.h>\n#include <math.h>\n#include <stdlib.h>\n"
LOGP = "static double logp(const double *x, void *d) {{ (void)d; {beyond} return -0.5 * (x[0] * x[0] + x[1] * x[1]); }}\n"
BATCH = """static void batch(size_t n, const double *x, double *l, void *d) {
    (void)d;
    for (size_t c = 0; c < n; c++) l[c] = -0.5 * (x[c] * x[c] + x[n + c] * x[n + c]);
}
"""
THIN = 50  # what writing takes is not the question
STRUCT = "AIS_DENSITY = {{AIS_DENSITY_HEAD, .dim = 2, .logp = logp, {more}}};\n"


def seconds(wish, folder, name, chains, draws, isolate):
    """Of drawing, the best of some; and the points at which the density died."""
    line = [f"{wish.build}/aisampler", "sample", str(folder / f"{name}.c"), "--sampler", "rwm", "--scale", "1", "--chains", str(chains),
            "--draws", str(draws // THIN), "--thin", str(THIN), "--warmup", "0", "--threads", "1", "--format", "csv", "--no-checkpoint", "--json", "--out", str(folder / "out")]
    line += ["--isolate", "--most-deaths", "1000000"] if isolate else []
    times = []
    for _ in range(wish.repeats):
        done = subprocess.run(line, capture_output=True, text=True)
        if done.returncode not in (0, 3):
            raise SystemExit(done.stderr)
        times.append(json.loads(done.stdout)["sample_seconds"])
    deaths = done.stderr.split("died at ")[1].split()[0] if "died at" in done.stderr else 0
    return min(times), int(deaths)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--repeats", type=int, default=5)
    wish = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "single.c").write_text(HEAD + LOGP.format(beyond="") + STRUCT.format(more=""))
        (folder / "batch.c").write_text(HEAD + LOGP.format(beyond="") + BATCH + STRUCT.format(more=".batch = batch"))
        (folder / "minus.c").write_text(HEAD + LOGP.format(beyond="if (x[0] > 1) return -INFINITY;") + STRUCT.format(more=""))
        (folder / "dies.c").write_text(HEAD + LOGP.format(beyond="if (x[0] > 1) abort();") + STRUCT.format(more=""))
        for name, chains, draws in (("single", 1, 50_000), ("batch", 64, 20_000)):
            plain, apart = (seconds(wish, folder, name, chains, draws, isolate)[0] for isolate in (False, True))
            print(f"{name}: {1e6 * plain / draws:.2f} us per step of {chains} chains, {1e6 * apart / draws:.2f} with --isolate: "
                  f"{1e6 * (apart - plain) / draws:.2f} us per question, {1e6 * (apart - plain) / draws / chains:.3f} per point")
        plain = seconds(wish, folder, "minus", 1, 1000, True)[0]
        apart, deaths = seconds(wish, folder, "dies", 1, 1000, True)
        print(f"a death: {1e3 * (apart - plain) / deaths:.2f} ms ({deaths} of them)")


if __name__ == "__main__":
    main()
