#!/usr/bin/env python3
"""Makes the n-th allocation, write, fsync, rename, open, thread or process creation (and more) of the command fail, for many
n of a short run of every subcommand, and looks at what comes of it.

    nice python3 bench/faults/inject.py build > inject.txt       all n; allocations: one n of every place they come from
    python3 bench/faults/inject.py build --most 3                so many n of every subcommand and kind, spread evenly
    python3 bench/faults/inject.py build --kinds write,rename    of these kinds alone
    python3 bench/faults/inject.py build --brief                 one, for CI (tests/fault/inject.sh)
    python3 bench/faults/inject.py build --count                 makes none: how many n there are

A fault is survived when the run ends as it does without (exit code, output and files), or with exit code 1 and one line
"aisampler: ..." and no file under its final name that differs from what the undisturbed run leaves there, apart from
values of the clock; draws.nc may be without log Z and verdict, which are added last, but its draws must be whole. Anything
else is a defect: a signal, more than a minute, exit code 2, another number of lines, an incomplete file.
A cell says how many faults were made, "6 of 41" where there are more n than were taken.
tests/support/inject.c makes the faults. Prints a table; exits with 1 when there is a defect."""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import hashlib
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from xml.etree import ElementTree

KINDS = "malloc thread fork write sync rename open truncate make read close lock realtime monotonic".split()
FAULTS = KINDS[:12]  # the last two are clocks
BRIEF = "malloc thread fork write sync rename open".split()
MOST_TRACES, HEAD = 1 << 22, struct.Struct(f"{len(KINDS) + 1}Q")
KEPT = (".lock", ".checkpoint", ".journal", ".training")  # files to go on from, judged by going on
CLOCK = re.compile(r"second|elapsed|date|created|steps_per|_over_|rate|us$|time")
numbers_of_runs = itertools.count()
PATIENCE = 150  # a process apart has its own limits, and the machine may be busy


@dataclasses.dataclass
class Job:
    name: str
    arguments: list[str]
    gives: str = ""  # a file or folder of its results
    says: bool = True  # the same text on stdout every time
    threads: int = 1
    slow: bool = False  # a second or more: left out in brief


JOBS = [
    Job("targets", ["targets"]),
    Job("help", ["help", "run"]),
    Job("run", "run mog6 --draws 30 --chains 2 -q -o out".split(), "out"),
    Job("run, 3 threads", "run mog6 --draws 30 --chains 4 -q -o out".split(), "out", threads=3),
    Job("run own.c", "run own.c --draws 30 --chains 2 -q -o out".split(), "out"),
    Job("run blr:table", "run blr:table.csv --draws 20 --chains 2 -q -o out".split(), "out"),
    Job("train", "train ring --map realnvp --layers 2 --steps 5 -q -o kernel.ais".split(), "."),
    Job("train henon", "train mog2 --map henon --layers 2 --steps 5 -q -o kernel.ais".split(), "."),
    Job("train data", "train data:made/draws.nc --steps 5 -q -o kernel.ais".split(), "."),
    Job("train anice", "train mog2 --sampler anice --steps 2 -q -o kernel.ais".split(), ".", slow=True),
    Job("sample rwm", "sample mog6 --sampler rwm --draws 20 --chains 2 -q -o out".split(), "out"),
    Job("sample nuts, report", "sample heart --sampler nuts --draws 20 --warmup 30 --save-warmup --chains 2 --report -q -o out".split(), "out"),
    Job("sample kernel", "sample mog6 -k made/kernel.ais --draws 20 --chains 2 -q -o out".split(), "out"),
    Job("sample ladder", "sample mog6 --sampler ladder --draws 5 --chains 1 -q -o out".split(), "out", slow=True),
    Job("sample --resume", "sample mog6 --sampler rwm --draws 20 --chains 2 -q -o made --resume".split(), "made"),
    Job("sample --extend", "sample mog6 --sampler rwm --draws 20 --chains 2 -q -o made --extend 10".split(), "made"),
    Job("diagnose netCDF", "diagnose made/draws.nc --report page.html".split(), "."),
    Job("diagnose, no page", "diagnose made/draws.nc".split()),
    Job("diagnose CSV", "diagnose made/draws-1.csv made/draws-2.csv --target mog6 --json".split()),
    Job("plot svg", "plot made -f corner -o out".split(), "out"),
    Job("plot png", "plot made -f trace,rank --format png -o out".split(), "out"),
    Job("plot pdf", "plot made -f marginals --format pdf -o out".split(), "out"),
    Job("compare", "compare gaussian -s rwm,nuts --draws 20 --warmup 20 -q -o out".split(), "out", says=False),
    Job("reproduce", "reproduce --quick --only triangle --trials 1 --iterations 2 --steps 2 -q -o out".split(), "out", slow=True),
    Job("bench", "bench paths --seconds 0.0001".split(), says=False),
]
OWN = """#include <aisampler/density.h>
static double logp(const double *x, void *data) { (void)data; return -0.5 * (x[0] * x[0] + 4 * x[1] * x[1]); }
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 2, .logp = logp};
"""


@dataclasses.dataclass
class Outcome:
    code: int | None  # None: it hung
    said: str  # on stderr
    printed: str
    files: dict[str, bytes]
    counts: dict[str, int]
    fired: int
    traces: list[int]


def without_clock(value: object) -> object:
    """JSON without what differs from run to run."""
    if isinstance(value, dict):
        return {key: None if CLOCK.search(key) else without_clock(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_clock(inner) for inner in value]
    return value


def shape(page: bytes) -> tuple[int, ...] | None:
    """Of a page or a figure: how many figures and sections it has; nothing when it is no well-formed XML."""
    try:
        tags = [element.tag.rpartition("}")[2] for element in ElementTree.fromstring(page).iter()]
    except ElementTree.ParseError:
        return None
    return tuple(tags.count(tag) for tag in ("svg", "section", "table", "h2"))


def whole_png(data: bytes) -> bool:
    at, kind = 8, b""
    while at + 12 <= len(data) and kind != b"IEND":
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if zlib.crc32(data[at + 4:at + 8 + length]).to_bytes(4, "big") != data[at + 8 + length:at + 12 + length]:
            return False
        at += 12 + length
    return kind == b"IEND" and at == len(data)


class Injector:
    def __init__(self, build: pathlib.Path, work: pathlib.Path):
        self.command, self.library, self.work = str(build / "aisampler"), str(build / "tests" / "libinject.so"), work
        self.inputs = work / "inputs"
        self.inputs.mkdir()
        self.whole_draws: dict[str, bool] = {}
        self.environment = os.environ | {"LD_LIBRARY_PATH": str(build), "XDG_CACHE_HOME": str(work / "cache"), "TMPDIR": str(work)}
        (self.inputs / "own.c").write_text(OWN)
        (self.inputs / "table.csv").write_text("a,b,y\n" + "".join(f"{i % 7},{i * i % 11},{i % 2}\n" for i in range(40)))
        for arguments in ("train mog6 -q -o made/kernel.ais", "sample mog6 --sampler rwm --draws 600 --chains 2 -q -o made",
                          "run own.c --draws 10 -q -o throwaway"):
            (self.inputs / "made").mkdir(exist_ok=True)
            done = subprocess.run([self.command, *arguments.split()], cwd=self.inputs, env=self.environment, check=False)
            if done.returncode not in (0, 3):
                sys.exit(f"{arguments}: exit {done.returncode}")
        shutil.rmtree(self.inputs / "throwaway")
        subprocess.run([self.command, *"sample mog6 --sampler rwm --draws 20 --chains 2 -q -o short".split()], check=False,
                       cwd=self.inputs, env=self.environment)

    def arguments(self, job: Job) -> list[str]:
        threaded = job.arguments[0] in ("run", "train", "sample", "compare", "reproduce")
        return [self.command, *job.arguments, *(["-j", str(job.threads)] if threaded else [])]

    def run(self, job: Job, place: str, fault: str = "", trace: bool = False, error: int = 0, wrap: tuple[str, ...] = (),
            keep: bool = False, preload: bool = True) -> Outcome:
        folder, log = self.work / place, self.work / (place + ".log")
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(self.inputs, folder)
            if job.gives == "made" and "--draws 20" in " ".join(job.arguments):  # a shorter run, to go on with
                shutil.rmtree(folder / "made")
                shutil.copytree(self.inputs / "short", folder / "made")
        with open(log, "wb") as file:
            file.truncate(HEAD.size + 4 * (MOST_TRACES if trace else 0))
        environment = self.environment | {"AIS_FAULT_LOG": str(log)}
        environment |= {"LD_PRELOAD": self.library} if preload else {}
        environment |= {"AIS_FAULT": fault} if fault else {}
        environment |= {"AIS_FAULT_TRACE": "malloc"} if trace else {}
        environment |= {"AIS_FAULT_ERROR": str(error)} if error else {}
        with open(self.work / (place + ".out"), "w+b") as out, open(self.work / (place + ".err"), "w+b") as err:
            process = subprocess.Popen([*wrap, *self.arguments(job)], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=err, start_new_session=True)
            try:
                code: int | None = process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                code = None
            out.seek(0), err.seek(0)
            printed, said = out.read().decode(errors="replace"), err.read().decode(errors="replace")
        with open(log, "rb") as file:
            *counts, fired = HEAD.unpack(file.read(HEAD.size))
            traces = list(struct.unpack(f"{min(counts[0], MOST_TRACES)}I", file.read(4 * min(counts[0], MOST_TRACES)))) if trace else []
        return Outcome(code, said, printed, self.results(folder, job), dict(zip(KINDS, counts)), fired, traces)

    def results(self, folder: pathlib.Path, job: Job) -> dict[str, bytes]:
        """Files under their final names, and only those the job made."""
        root = folder / job.gives
        if not job.gives or not root.exists():
            return {}
        given = {path.relative_to(self.inputs).as_posix() for path in self.inputs.rglob("*")}
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*")
                if path.is_file() and not path.name.endswith((*KEPT, ".part"))
                and (job.gives == "made" or path.relative_to(folder).as_posix() not in given)}

    def same_draws(self, one: bytes, two: bytes) -> bool:
        """Two netCDF files with the same draws, with or without what is added after them."""
        if one == two:
            return True
        told = []
        for data in (one, two):
            path = self.work / f"{hashlib.sha256(data).hexdigest()}.nc"
            if str(path) not in self.whole_draws:
                path.write_bytes(data)
                done = subprocess.run([self.command, "diagnose", path, "--json"], env=self.environment, capture_output=True, text=True, check=False)
                self.whole_draws[str(path)] = done.stdout if done.returncode in (0, 3) else ""
            told.append(self.whole_draws[str(path)])
        return told[0] == told[1] != ""

    def same(self, name: str, whole: bytes, found: bytes) -> bool:
        if whole == found:
            return True
        if name.endswith(".nc"):
            return self.same_draws(whole, found)
        if name.endswith(".json"):
            try:
                return without_clock(json.loads(found)) == without_clock(json.loads(whole))
            except ValueError:
                return False
        # Numbers of the clock are in them, and another font stands in where one could not be loaded.
        if name.endswith((".html", ".svg")):
            return shape(whole) == shape(found)
        if name.endswith(".md"):
            blank = [re.sub(rb"[0-9][0-9.e+-]*", b"0", data) for data in (whole, found)]
            return blank[0] == blank[1]
        if name.endswith(".png"):
            return whole_png(found) and whole[16:24] == found[16:24]
        return name.endswith(".pdf") and found.rstrip().endswith(b"%%EOF")

    def judge(self, job: Job, whole: Outcome, got: Outcome, earlier: dict[str, bytes]) -> str:
        """Nothing, or what is wrong. earlier: files that were there before."""
        lines = [line for line in got.said.splitlines() if line.strip()]
        last = lines[-1][:160] if lines else ""
        if got.code is None:
            return "hangs"
        if got.code < 0:
            return f"{signal.Signals(-got.code).name}: {last}"
        for name, data in got.files.items():
            if name not in whole.files and name not in earlier:
                return f"{name} is no file of this run"
            if not (name in whole.files and self.same(name, whole.files[name], data)) and earlier.get(name) != data:
                return f"exit {got.code}, {name} is not whole: {last}"
        if got.code == whole.code:
            if missing := set(whole.files) - set(got.files):
                return f"exit {got.code} without {sorted(missing)[0]}"
            if job.says and got.printed != whole.printed:
                return f"exit {got.code} with another text on stdout"
            if [line for line in lines if line not in whole.said.splitlines() and not line.startswith("aisampler: ")]:
                return f"exit {got.code} and on stderr: {last}"
            return ""
        if got.code != 1:
            return f"exit {got.code}: {last}"
        if len(lines) != 1 or not lines[0].startswith("aisampler: "):
            return f"{len(lines)} lines: {lines[0][:160] if lines else ''}"
        return ""


def spread(numbers: list[int], most: int) -> list[int]:
    if most <= 0 or len(numbers) <= most:
        return numbers
    return sorted({numbers[(2 * k + 1) * len(numbers) // (2 * most)] for k in range(most)})


def places(whole: Outcome, kind: str, every: bool) -> list[int]:
    """Calls to fail: all, or of allocations the first of every stack they come from."""
    if kind != "malloc" or every:
        return list(range(1, whole.counts[kind] + 1))
    first: dict[int, int] = {}
    for n, stack in enumerate(whole.traces, 1):
        first.setdefault(stack, n)
    return sorted(first.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--most", type=int, default=0, help="faults per subcommand and kind, spread evenly (0: all)")
    parser.add_argument("--brief", action="store_true", help="one fault per subcommand and kind, for CI")
    parser.add_argument("--count", action="store_true", help="only count the n there are")
    parser.add_argument("--every", action="store_true", help="every allocation, not one per place")
    parser.add_argument("--only", default="", help="jobs whose name begins with this")
    parser.add_argument("--kinds", default=",".join(FAULTS))
    parser.add_argument("--number", default="", help="faults, e.g. malloc:17,write:3+: their outcome in full")
    parser.add_argument("--error", type=int, default=0, help="number of the error instead of the usual one")
    parser.add_argument("-j", type=int, default=1, help="runs at a time")
    options = parser.parse_args()
    if options.brief:
        options.most, options.kinds = 1, ",".join(BRIEF)
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=base) as work, ThreadPoolExecutor(options.j) as pool:
        injector = Injector(options.build.resolve(), pathlib.Path(work))
        return inject(injector, pool, options)


def show(job: Job, fault: str, wrong: str, whole: Outcome, got: Outcome) -> None:
    print(f"{job.name}, {fault}: exit {got.code}, fired {got.fired}: {wrong or 'as it should'}\n{got.said}")
    texts = {name: (whole.files.get(name, b"").decode(errors="replace"), data.decode(errors="replace"))
             for name, data in got.files.items() if name.endswith(("json", "csv"))}
    for name, (one, other) in [("stdout", (whole.printed, got.printed)), *sorted(texts.items())]:
        print("\n".join(difflib.unified_diff(one.splitlines(), other.splitlines(), "whole/" + name, "found/" + name, lineterm="", n=0)))


def inject(injector: Injector, pool: ThreadPoolExecutor, options: argparse.Namespace) -> int:
    kinds = options.kinds.split(",")
    print("| subcommand | " + " | ".join(kinds) + " |\n|---" + "|---" * len(kinds) + "|", flush=True)
    defects: dict[str, list[str]] = {}
    totals = {kind: [0, 0, 0, 0, 0] for kind in kinds}
    for job in JOBS:
        if not job.name.startswith(options.only) or (options.brief and job.slow):
            continue
        whole = injector.run(job, "whole", trace=True)
        earlier = {}
        if job.gives == "made":
            earlier = {path.name: path.read_bytes() for path in (injector.inputs / "short").iterdir()}
        if whole.code not in (0, 3):
            print(f"{job.name}: without a fault it ends with {whole.code}: {whole.said}", file=sys.stderr)
            return 1

        def one(fault: str, job: Job = job, whole: Outcome = whole, earlier: dict[str, bytes] = earlier) -> tuple[str, str, Outcome]:
            place = f"run-{next(numbers_of_runs)}-" + re.sub(r"\W", "-", fault)
            got = injector.run(job, place, fault, error=options.error)
            wrong = injector.judge(job, whole, got, earlier)
            for path in (injector.work / place, *(injector.work / (place + end) for end in (".log", ".out", ".err"))):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            return fault, wrong, got

        if options.number:
            for fault, wrong, got in pool.map(one, options.number.split(",")):
                show(job, fault, wrong, whole, got)
            continue
        cells = []
        for kind in kinds:
            there = places(whole, kind, options.every)
            numbers = [] if options.count else spread(there, options.most)
            once = [f"{kind}:{n}" for n in numbers]
            # All that follow fail, too: a disk that stays full, memory that is used up.
            for_good = [] if options.brief else [f"{kind}:{n}+" for n in spread(numbers, max(1, len(numbers) // 5))]
            done, told = 0, 0
            for fault, wrong, got in pool.map(one, once + (for_good if kind != "lock" else [])):
                if not got.fired and not wrong:
                    continue  # the run took another turn
                done += 1
                told += got.code == 1
                if wrong:
                    defects.setdefault(f"{job.name}: {kind}: {wrong}", []).append(fault)
            bad = sum(len(found) for what, found in defects.items() if what.startswith(f"{job.name}: {kind}: "))
            partly = f" of {len(there)}" if len(numbers) < len(there) else ""
            cells.append(f"{done}" + partly + (f" ({bad} bad)" if bad else "") if there else "")
            for i, value in enumerate((done, told, bad, len(numbers), len(there))):
                totals[kind][i] += value
        print(f"| {job.name} | " + " | ".join(cells) + " |", flush=True)
    print("| all | " + " | ".join(f"{done}" + (f" ({bad} bad)" if bad else "") for done, _, bad, *_ in totals.values()) + " |")
    print("| of them told and ended | " + " | ".join(str(told) for _, told, *_ in totals.values()) + " |")
    print("| n that were taken, of all | " + " | ".join(f"{taken} of {there}" for *_, taken, there in totals.values()) + " |")
    for what, found in sorted(defects.items(), key=lambda item: -len(item[1])):
        print(f"{what}: {len(found)}: {' '.join(found[:6])}", file=sys.stderr)
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
