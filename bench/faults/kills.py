#!/usr/bin/env python3
"""Kills runs at random moments, goes on with --resume, and compares what comes out with a run that was never disturbed:
draws and kernel byte for byte, summary.json apart from what the clock says.

    nice python3 bench/faults/kills.py build --learning 200 --drawing 200 > kills.txt

Kills are dealt to the jobs below in turn, and every resumption has another number of threads. By the files that are there
a kill counts for learning, for drawing (draws.nc is not complete), or for what comes after (verdict, figures). Prints a table; exits with 1 when anything differs."""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CLOCK = ("train_seconds", "warmup_seconds", "sample_seconds", "ess_per_second", "ess_per_second_with_training")
PRIORS = """#include <aisampler/density.h>
#include <math.h>
static double likelihood(const double *theta, void *data) {
    static const double x[] = {1, 2, 3, 4}, y[] = {3.8, 8.3, 11.9, 16.4};
    double sum = 0;
    (void)data;
    for (int i = 0; i < 4; i++) sum -= 0.5 * pow((y[i] - theta[0] * theta[0] * x[i]) / theta[1], 2) + log(theta[1]);
    return sum;
}
static const ais_parameter parameters[] = {{"a", AIS_NORMAL(0, 3)}, {"sd", AIS_HALF_NORMAL(2)}};
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 2, .logp = likelihood, .parameters = parameters, .parameter_count = 2};
"""


@dataclasses.dataclass
class Job:
    """A command that learns, or draws, or both."""

    name: str
    arguments: list[str]
    part: str  # learning or drawing: when it is to be killed
    learning: int = 0  # kills
    drawing: int = 0
    after: int = 0
    resumed: int = 0  # runs that were killed at least once and compared
    differ: int = 0


def jobs(scale: float) -> list[Job]:
    """scale: of the number of draws, for a machine on which runs are to last longer."""

    def n(draws: int) -> str:
        return str(max(1, int(draws * scale)))

    return [
        Job("run ring5, spline", ["run", "ring5", "--map", "spline", "--draws", "100"], "learning"),
        Job("run heart, realnvp", ["run", "heart", "--map", "realnvp", "--layers", "8", "--steps", "300", "--draws", "100"],
            "learning"),
        Job("run mog6, henon", ["run", "mog6", "--map", "henon", "--layers", "8", "--steps", "150", "--draws", "100"],
            "learning"),
        Job("sample nuts", ["sample", "heart", "--sampler", "nuts", "--draws", n(15000), "--save-warmup"], "drawing"),
        Job("sample nuts, dense", ["sample", "heart", "--sampler", "nuts", "--metric", "dense", "--draws", n(10000)], "drawing"),
        Job("sample hmc", ["sample", "heart", "--sampler", "hmc", "--draws", n(2500), "--thin", "2"], "drawing"),
        Job("sample rwm, 100 chains", ["sample", "mog6", "--sampler", "rwm", "--chains", "100", "--draws", n(1000), "--thin", "8"], "drawing"),
        Job("sample henon", ["sample", "heart", "-k", "henon.ais", "--chains", "70", "--draws", n(500), "--thin", "20"], "drawing"),
        Job("sample spline", ["sample", "heart", "-k", "spline.ais", "--chains", "70", "--draws", n(500), "--thin", "20"], "drawing"),
        Job("sample henon+rwm+nuts", ["sample", "heart", "-k", "henon.ais", "--sampler", "rwm+nuts", "--draws", n(8000)], "drawing"),
        Job("sample ladder", ["sample", "mog6", "--sampler", "ladder", "--draws", n(1000), "--thin", "8"], "drawing"),
        Job("sample nuts, effective", ["sample", "heart", "--sampler", "nuts", "--effective", n(60000)], "drawing"),
        Job("sample nuts, evaluations", ["sample", "heart", "--sampler", "nuts", "--evaluations", n(8000000)], "drawing"),
        Job("sample rwm, evaluations", ["sample", "mog6", "--sampler", "rwm", "--chains", "100", "--draws", n(100000), "--thin", "8",
                                        "--evaluations", n(1000000)], "drawing"),
        Job("sample ladder, evaluations", ["sample", "mog6", "--sampler", "ladder", "--draws", n(100000), "--thin", "2",
                                           "--evaluations", n(400000)], "drawing"),
        Job("run mog6", ["run", "mog6", "--draws", n(2000), "--thin", "200"], "drawing"),
        Job("run heart", ["run", "heart", "--draws", n(1000), "--thin", "100"], "drawing"),
        Job("run priors in C", ["run", "priors.c", "--draws", n(2000), "--thin", "40"], "drawing"),
    ]


def summary(folder: pathlib.Path) -> dict:
    found = json.loads((folder / "summary.json").read_text())
    return {key: value for key, value in found.items() if key not in CLOCK}


def differences(whole: pathlib.Path, other: pathlib.Path) -> list[str]:
    names = sorted({path.name for folder in (whole, other) for path in folder.iterdir()
                    if path.name.startswith("draws") or path.name == "kernel.ais"})
    wrong = [name for name in names
             if not (whole / name).exists() or not (other / name).exists()
             or (whole / name).read_bytes() != (other / name).read_bytes()]
    return wrong + (["summary.json"] if summary(whole) != summary(other) else [])


class Killer:
    def __init__(self, build: pathlib.Path, work: pathlib.Path, seed: int):
        self.command, self.work, self.random = str(build / "aisampler"), work, random.Random(seed)
        (work / "priors.c").write_text(PRIORS)
        for kind in ("henon", "spline"):
            subprocess.run([build / "tests" / "kernel_probe", kind, "14", work / f"{kind}.ais"], check=True,
                           stdout=subprocess.DEVNULL)
        self.seconds: dict[str, float] = {}

    def start(self, job: Job, folder: str, *more: str) -> subprocess.Popen:
        return subprocess.Popen([self.command, *job.arguments, "-q", "--out", folder, *more], cwd=self.work,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def complete(self, job: Job, folder: str, *more: str) -> None:
        process = self.start(job, folder, *more)
        _, said = process.communicate()
        if process.returncode not in (0, 3):
            sys.exit(f"{job.name} {' '.join(more)}: exit {process.returncode}: {said}")

    def whole(self, job: Job) -> pathlib.Path:
        """The undisturbed run; it tells, too, how long a run lasts."""
        folder = self.work / ("whole " + job.name)
        if not folder.exists():
            began = time.monotonic()
            self.complete(job, folder.name, "-j", "2")
            self.seconds[job.name] = time.monotonic() - began
        return folder

    def kill(self, job: Job, folder: pathlib.Path, threads: int) -> bool:
        """False when the run was over before."""
        process = self.start(job, folder.name, "--resume", "--checkpoint", "0.02", "-j", str(threads))
        time.sleep(self.random.uniform(0.01, 0.9) * self.seconds[job.name])
        process.send_signal(signal.SIGKILL)
        _, said = process.communicate()
        if process.returncode != -signal.SIGKILL:
            if process.returncode not in (0, 3):
                sys.exit(f"{job.name}: exit {process.returncode}: {said}")
            return False
        if (folder / "draws.nc.part").exists():
            job.drawing += 1
        elif (folder / "draws.nc").exists():
            job.after += 1
        else:
            job.learning += 1
        return True

    def round(self, job: Job, most: int) -> None:
        """One run, killed up to `most` times, then ended and compared."""
        whole, folder = self.whole(job), self.work / "killed"
        shutil.rmtree(folder, ignore_errors=True)
        killed = 0
        while killed < most and self.kill(job, folder, killed % 3 + 1):
            killed += 1
        if not killed:
            return
        self.complete(job, folder.name, "--resume", "-j", str(self.random.choice((1, 2, 3))))
        wrong = differences(whole, folder)
        job.resumed += 1
        job.differ += bool(wrong)
        if wrong:
            print(f"{job.name}: {', '.join(wrong)} differ", file=sys.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--learning", type=int, default=40, help="kills while a kernel is learned")
    parser.add_argument("--drawing", type=int, default=40, help="kills while draws are made")
    parser.add_argument("--scale", type=float, default=1, help="of the number of draws")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    parser.add_argument("--only", default="", help="jobs whose name has this")
    options = parser.parse_args()
    chosen = [job for job in jobs(options.scale) if options.only in job.name]
    with tempfile.TemporaryDirectory() as work:
        killer = Killer(options.build.resolve(), pathlib.Path(work), options.seed)
        for part, wanted in (("learning", options.learning), ("drawing", options.drawing)):
            mine = [job for job in chosen if job.part == part]
            for turn in range(10 * wanted if mine else 0):
                left = wanted - sum(getattr(job, part) for job in chosen)
                if left <= 0:
                    break
                killer.round(mine[turn % len(mine)], min(3, left))
    print("| job | kills while learning | while drawing | after it | runs resumed | of them not the same bytes |\n|---|---|---|---|---|---|")
    total = Job("all", [], "")
    for job in [*chosen, total]:
        print(f"| {job.name} | {job.learning} | {job.drawing} | {job.after} | {job.resumed} | {job.differ} |")
        for name in ("learning", "drawing", "after", "resumed", "differ"):
            setattr(total, name, getattr(total, name) + getattr(job, name))
    enough = total.learning >= options.learning and total.drawing >= options.drawing
    if not enough:
        print("runs were over too soon to be killed often enough: raise --scale", file=sys.stderr)
    return 0 if enough and not total.differ else 1


if __name__ == "__main__":
    sys.exit(main())
