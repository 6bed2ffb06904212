#!/usr/bin/env python3
"""What a machine may do to a run, apart from single calls that fail (inject.py): a full disk, a folder that is removed or
made read-only in mid-run, limits on memory, open files and the size of files, a rank that is killed under mpirun, clocks
that jump.

    nice python3 bench/faults/limits.py build > limits.txt        many sizes of each
    python3 bench/faults/limits.py build --most 2                 few, for CI

Judged as in inject.py. Prints a table; exits with 1 when there is a defect. What needs root (a small disk by mount) or MPI is
left out where there is none, and said on stderr."""

from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from inject import JOBS, Injector, Job, Outcome, spread

CHOSEN = {job.name: job for job in JOBS}
LONG = "sample heart --sampler nuts --chains 2 --draws 100000000 -q -o out --checkpoint 0.02 -j 1".split()
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


def remove(folder: pathlib.Path) -> None:
    """However many files the run makes in it meanwhile: rmtree removes those that it saw at first."""
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)


class Machine:
    def __init__(self, injector: Injector, most: int):
        self.injector, self.most, self.rows, self.defects = injector, most, [], []
        self.whole: dict[str, Outcome] = {}

    def note(self, what: str, job: str, outcomes: list[tuple[str, int | None, str]]) -> None:
        """outcomes: with what, exit code, what is wrong or nothing."""
        ended = sum(code == 1 for _, code, _ in outcomes)
        self.rows.append(f"| {what} | {job} | {len(outcomes)} | {ended} | {len(outcomes) - ended} |")
        print(self.rows[-1], flush=True)
        self.defects += [f"{what}, {job}, {which}: {wrong}" for which, _, wrong in outcomes if wrong]

    def try_all(self, what: str, name: str, values: list, how) -> None:
        """how(value): a command before the command, a fault, and further words of it."""
        job, outcomes = CHOSEN[name], []
        if name not in self.whole:
            self.whole[name] = self.injector.run(job, "whole")
        for value in spread(values, self.most):
            wrap, fault = how(value)
            got = self.injector.run(job, "limited", fault, wrap=wrap, preload=bool(fault))
            wrong = self.injector.judge(job, self.whole[name], got, {})
            if got.code == 127 and "loading shared libraries" in got.said:
                continue  # the limit was too small for the command to begin
            outcomes.append((str(value), got.code, wrong))
        self.note(what, name, outcomes)

    # ---- limits --------------------------------------------------------------------------------------------

    def limits(self) -> None:
        def limit(letter: str):
            return lambda value: (("bash", "-c", f'ulimit -{letter} {value}; exec "$@"', "limit"), "")

        for name in ("run", "sample rwm", "train", "diagnose netCDF", "plot png"):
            self.try_all("memory (ulimit -v), KiB", name, list(range(76000, 110001, 2000)), limit("v"))
            self.try_all("open files (ulimit -n)", name, list(range(4, 24)), limit("n"))
        for name in ("run", "sample rwm", "train", "plot png"):
            self.try_all("size of files (ulimit -f), KiB", name, [1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96], limit("f"))

    def clocks(self) -> None:
        for clock in ("realtime", "monotonic"):
            for seconds in (86400, -86400):
                self.try_all(f"{clock} clock jumps by {seconds} s at call n", "run", [1, 2, 5, 20, 80, 200],
                             lambda n, clock=clock, seconds=seconds: ((), f"{clock}:{n}:{seconds}"))

    # ---- disks ---------------------------------------------------------------------------------------------

    def small_disk(self) -> None:
        place = self.injector.work / "disk"
        place.mkdir()
        if os.geteuid() != 0:
            print("a small disk: left out, only root can mount one", file=sys.stderr)
            return
        for name in ("run", "sample rwm", "train", "plot png"):
            job = CHOSEN[name]
            if name not in self.whole:
                self.whole[name] = self.injector.run(job, "whole")
            outcomes = []
            for kib in spread([0, 4, 8, 16, 24, 32, 48, 64, 96, 128, 160, 192, 256, 320, 384, 448], self.most):
                folder = self.injector.work / "limited"
                shutil.rmtree(folder, ignore_errors=True)
                shutil.copytree(self.injector.inputs, folder)
                target = folder / job.gives if job.gives != "." else folder / "disk"
                target.mkdir()
                if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={max(kib, 4)}k", "none", target], check=False).returncode:
                    print("a small disk: left out, mount does not work here", file=sys.stderr)
                    return
                if kib == 0:
                    (target / "filler").write_bytes(bytes(4096))
                here = Job(job.name, [word.replace("kernel.ais", "disk/kernel.ais") for word in job.arguments],
                           "disk" if job.gives == "." else job.gives)
                try:
                    got = self.injector.run(here, "limited", preload=False, keep=True)
                finally:
                    subprocess.run(["umount", "-l", target], check=True)
                got.files.pop("filler", None)
                outcomes.append((f"{kib} KiB", got.code, self.injector.judge(job, self.whole[name], got, {})))
            self.note("disk full (tmpfs)", name, outcomes)

    def spoil(self, what: str, wrap: tuple[str, ...], spoil, mend, after: list[str]) -> None:
        """A long run into a folder that changes under it."""
        outcomes = []
        for which in after[: self.most or len(after)]:
            folder = self.injector.work / "spoiled"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for path in [folder, *folder.parents]:  # whoever runs may come as far as this
                if path == self.injector.work.parent:
                    break
                path.chmod(0o777)
            with open(self.injector.work / "spoiled.err", "w+") as err:
                process = subprocess.Popen([*wrap, self.injector.command, *LONG], cwd=folder, env=self.injector.environment,
                                           stdout=subprocess.DEVNULL, stderr=err)
                until = time.monotonic() + 60
                while not (folder / "out" / which).exists() and process.poll() is None and time.monotonic() < until:
                    time.sleep(0.02)
                spoil(folder / "out")
                try:
                    code: int | None = process.wait(60)
                except subprocess.TimeoutExpired:
                    process.kill()
                    code = process.wait() and None
                mend(folder / "out")
                err.seek(0)
                lines = err.read().splitlines()
            whole = [path.name for path in (folder / "out").glob("draws*") if not path.name.endswith(".part")] \
                if (folder / "out").exists() else []
            wrong = ""
            if code != 1 or len(lines) != 1 or not lines[0].startswith("aisampler: ") or whole:
                wrong = f"exit {code}, {len(lines)} lines ({lines[:1]}), {whole}"
            outcomes.append((f"after {which}", code, wrong))
        self.note(what, "sample nuts", outcomes)

    def spoiled_folders(self) -> None:
        moments = ["draws.nc.part", "drawing.checkpoint"]  # before there are files a folder that is gone is made again
        self.spoil("folder removed in mid-run", (), remove, lambda out: None, moments)
        wrap = NOBODY if os.geteuid() == 0 else ()  # root writes whatever the mode
        self.spoil("folder made read-only in mid-run", wrap, lambda out: out.chmod(0o555), lambda out: out.chmod(0o777), moments)

    # ---- ranks ---------------------------------------------------------------------------------------------

    def ranks(self) -> None:
        linked = subprocess.run(["ldd", self.injector.command], capture_output=True, text=True, check=False).stdout
        if not shutil.which("mpirun") or "libmpi" not in linked:
            print("a killed rank: left out, there is no MPI", file=sys.stderr)
            return
        environment = self.injector.environment | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                                                   "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        outcomes = []
        for victim in [1, 2, 0, 1][: self.most or 4]:
            folder = self.injector.work / "ranks"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            with open(self.injector.work / "ranks.err", "w+") as err:
                process = subprocess.Popen(["mpirun", "-n", "3", self.injector.command, *LONG], cwd=folder, env=environment,
                                           stdout=subprocess.DEVNULL, stderr=err, start_new_session=True)
                until = time.monotonic() + 90
                while not (folder / "out" / "drawing.checkpoint").exists() and process.poll() is None and time.monotonic() < until:
                    time.sleep(0.05)
                for pid in filter(str.isdigit, os.listdir("/proc")):
                    try:
                        parent = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1]
                        rank = f"OMPI_COMM_WORLD_RANK={victim}".encode()
                        if parent == str(process.pid) and rank in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                            os.kill(int(pid), signal.SIGKILL)
                    except OSError:
                        pass
                try:
                    code: int | None = process.wait(60)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    code = None
                err.seek(0)
                lines = [line for line in err.read().splitlines() if line.startswith("aisampler: ")]
            wrong = ""
            if code in (None, 0, 3):
                wrong = f"exit {code}"
            # Files under their final names are read; rank 0 alone writes them, and says so unless it is the one that died.
            elif victim and not lines:
                wrong = "no line"
            elif (folder / "out" / "draws.nc").exists():
                read = subprocess.run([self.injector.command, "diagnose", folder / "out" / "draws.nc", "-q"], check=False,
                                      env=self.injector.environment, capture_output=True, text=True)
                wrong = "" if read.returncode in (0, 3) or "has no draws" in read.stderr else read.stderr  # of the warm-up
            outcomes.append((f"rank {victim}", 1 if code else code, wrong))
        self.note("a rank of three killed (mpirun)", "sample nuts", outcomes)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--most", type=int, default=0, help="cases of each row (0: all)")
    parser.add_argument("--only", default="", help="limits, clocks, small_disk, spoiled_folders or ranks")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        machine = Machine(Injector(options.build.resolve(), pathlib.Path(work)), options.most)
        print("| what | command | cases | told and ended | went well |\n|---|---|---|---|---|", flush=True)
        for part in (machine.limits, machine.clocks, machine.small_disk, machine.spoiled_folders, machine.ranks):
            if options.only in part.__name__:
                part()
        for defect in machine.defects:
            print(defect, file=sys.stderr)
        return 1 if machine.defects else 0


if __name__ == "__main__":
    sys.exit(main())
