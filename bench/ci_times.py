"""Processor time of every test of a build folder, user and system with all children: what a test costs, however busy the
machine is.

    python3 bench/ci_times.py [build] [-R regular expression] [-E regular expression]

Tests run one after the other, as ctest runs them (AIS_BRIEF and others count); the dearest come first."""
import argparse
import json
import os
import re
import resource
import subprocess


def spent():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("-R", default="")
    parser.add_argument("-E", default="(?!)")
    chosen = parser.parse_args()
    listed = subprocess.run(["ctest", "--test-dir", chosen.build, "--show-only=json-v1"], capture_output=True, text=True, check=True)
    names = [test["name"] for test in json.loads(listed.stdout)["tests"]]
    rows = []
    for name in names:
        if not re.search(chosen.R, name) or re.search(chosen.E, name):
            continue
        before = spent()
        done = subprocess.run(["ctest", "--test-dir", chosen.build, "-R", f"^{re.escape(name)}$"], capture_output=True, text=True)
        rows.append((spent() - before, name, "passed" if done.returncode == 0 else "FAILED"))
    for seconds, name, how in sorted(rows, reverse=True):
        print(f"{seconds:8.1f} s  {how}  {name}")
    print(f"{sum(row[0] for row in rows):8.1f} s  of {len(rows)} tests, on {os.cpu_count()} cores {sum(row[0] for row in rows) / os.cpu_count() / 60:.1f} min at least")


if __name__ == "__main__":
    main()
