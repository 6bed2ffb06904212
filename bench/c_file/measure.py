"""A C file beside the built-in density of the same formula: instructions of one step of a kernel.

    python3 bench/c_file/measure.py

Counted by callgrind as bench/instructions.py does, 2n steps less n, so that it is repeatable on a machine that is busy
with other things. rwm asks for densities in batches of 64, nuts for gradients one by one. The command's guard of densities
(cli/guard.c) is not in it: it saves a few registers per call.

    AIS_BUILD: our build folder (build)"""
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(os.environ.get("AIS_BUILD", os.path.join(HERE, "..", "..", "build")), "bench", "fixed_steps")
CASES = [("rwm", 64, 200), ("nuts", 1, 100)]  # kernel, chains, steps
# valgrind knows AVX2 and no AVX-512: the built-in takes its AVX2 form there, and the file is compiled for the same.
TARGETS = ["banana:dim=10", os.path.join(HERE, "banana.c") + ":flags=-march=x86-64-v3"]


def count(kernel, target, chains, steps):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", PROGRAM, kernel, target, str(chains),
               str(steps)]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", out.stderr).group(1))


for kernel, chains, steps in CASES:
    built_in, own = ((count(kernel, target, chains, 2 * steps) - count(kernel, target, chains, steps)) / steps
                     for target in TARGETS)
    print(f"{kernel}, {chains} chains: {built_in:.0f} instructions a step with the built-in, {own:.0f} with the C file, ratio "
          f"{own / built_in:.3f}", flush=True)
