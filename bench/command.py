"""Our command as benchmarks call it: one run with a time limit, what it says of itself, and what its density counted.

    AIS_BUILD: our build folder (build)"""
import json
import math
import os
import platform
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get("AIS_BUILD", os.path.join(ROOT, "build"))
AISAMPLER = os.path.join(BUILD, "aisampler")
USAGE, DISTRUST = 2, 3
BUSY = 20  # a run whose limit is in seconds of the processor is waited for as many times as long


def read_json(path):
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def wishes(parser, folder, targets):
    """What benchmarks of many targets and seeds are told: parsed, with the folder of results made and names checked."""
    parser.add_argument("--out", default=os.path.join(ROOT, "out", folder))
    parser.add_argument("--only", default=",".join(targets))
    parser.add_argument("--seeds", default="11,12")
    parser.add_argument("--effective", type=int, default=4000)
    parser.add_argument("--limit", type=float, default=120, help="seconds of one run")
    wish = parser.parse_args()
    os.makedirs(wish.out, exist_ok=True)
    for name in wish.only.split(","):
        if name not in targets:
            sys.exit(f"unknown target {name}: one of {', '.join(targets)}")
    return wish


def keep(path, result):
    """Whole or not at all, so that a benchmark that is killed can be resumed."""
    with open(path + ".part", "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    os.replace(path + ".part", path)


def evaluations(summary, run):
    """What the program says it spent, with its parts where it tells them; run.json stands in for an older summary."""
    said = summary.get("evaluations")
    if isinstance(said, dict):
        return said
    learned = run.get("training") or {}
    drawing = said if said is not None else run.get("evaluations")
    if drawing is None:
        return None
    return {"start": learned.get("densities", 0) + learned.get("gradients", 0), "drawing": drawing}


def draws(folder):
    """draws.nc as an array (draw of all chains, parameter), parameters in the order of summary.json."""
    import h5py

    columns = []
    with h5py.File(os.path.join(folder, "draws.nc")) as file:
        posterior = file["posterior"]
        for parameter in read_json(os.path.join(folder, "summary.json"))["parameters"]:
            name, *index = parameter["name"].split(".")
            place = tuple(int(i) - 1 for i in index)
            columns.append(np.asarray(posterior[name][(slice(None), slice(None)) + place]).ravel())
    return np.stack(columns, axis=1)


def call(*arguments, folder, limit, environment=None, processor=False):
    """Runs the command into a folder; a usage error ends the benchmark, since it would be the same for every target.
    processor: the limit counts seconds of the processor, for runs on a busy machine."""
    counts = os.path.join(folder, "counts.json")
    line = [AISAMPLER, *(str(a) for a in arguments), "--out", folder, "--format", "netcdf", "--quiet"]
    began, before = time.perf_counter(), processor_seconds()
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
                          preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit)))) if processor else None,
                          env={**os.environ, **(environment or {}), "AIS_COUNTS": counts}) as process:
        try:
            message = process.communicate(timeout=BUSY * limit if processor else limit)[1]
            late = processor and process.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
            if late:
                message = f"nothing in {limit} s of the processor"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            message, late = f"nothing in {limit} s", True
            process.communicate()
    wall, processor = time.perf_counter() - began, processor_seconds() - before
    summary, run = (read_json(os.path.join(folder, name)) for name in ("summary.json", "run.json"))
    if process.returncode == USAGE and "option" in message:
        sys.exit(f"{' '.join(line)}: {message.strip()}")
    result = {"command": shlex.join(line[:-5]).replace(BUILD + "/", ""), "wall": wall, "processor": processor, "late": late, "code": process.returncode,
              "counted": read_json(counts)}
    if message:
        result["message"] = message.strip()[-500:]
    if summary and not late:
        per_chain = summary.get("worst_ess")
        result |= {"said": evaluations(summary, run), "chains": summary["chains"], "draws": summary["draws"],
                   "worst_ess": per_chain * summary["chains"] if per_chain else 0, "rhat": summary["worst_rhat"],
                   "sampler": summary["sampler"], "acceptance": summary["acceptance"], "trust": summary["trust"],
                   "divergences": summary.get("divergences"), "warmup_seconds": summary["warmup_seconds"],
                   "sample_seconds": summary["sample_seconds"], "warnings": summary["warnings"]}
        learned = run.get("training") or {}
        result |= {key: learned.get(key) for key in ("start_seconds", "train_seconds") if key in learned}
        result |= {key: summary[key] for key in ("log_z", "log_z_error") if key in summary}
    return result


def total(result):
    """Evaluations of a run: as its density counted them."""
    return result["counted"]["densities"] + result["counted"]["gradients"]


def miscounted(result):
    """Whether the program's own count is another one; False where it gives no total."""
    said = (result.get("said") or {}).get("total")
    return said is not None and said != total(result)


def processor_seconds():
    """Of the children that have ended: what a run costs, whatever else the machine does."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def scratch():
    return tempfile.TemporaryDirectory(prefix="aisampler-bench-")


def machine():
    name = platform.processor() or platform.machine()
    with open("/proc/cpuinfo") as file:
        text = file.read()
    for line in text.splitlines():
        if line.startswith("model name"):
            name = line.split(":")[1].strip()
            break
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    return {"processor": name, "avx512": "avx512f" in text, "cores": os.cpu_count(), "commit": commit,
            "date": time.strftime("%Y-%m-%d")}
