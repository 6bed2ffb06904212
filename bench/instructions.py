"""Instructions of one step of each kernel, counted by callgrind: repeatable on a machine that is busy with other things.

    python3 bench/instructions.py [build] [--record]

Compares with bench/instructions.txt and exits 1 when a kernel needs over 2% more; --record rewrites the file. The
count is that of 2n steps minus that of n, so that starting up does not count. It holds for the compiler and the
instruction set that the file names."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
RECORD = os.path.join(HERE, "instructions.txt")
CASES = [  # kernel, target, chains, steps
    ("henon", "mog6", 64, 200),
    ("henon", "mog6", 1, 2000),
    ("henon", "german", 64, 50),
    ("spline", "mog6", 64, 100),
    ("realnvp", "heart", 64, 50),
    ("realnvp", "german", 64, 20),
    ("realnvp", "australian", 64, 50),
    ("rwm", "mog6", 64, 200),
    ("hmc", "heart", 1, 20),
    ("nuts", "heart", 1, 50),
]
ALLOWED = 1.02


def count(build, kernel, target, chains, steps):
    program = os.path.join(build, "bench", "fixed_steps")
    out = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, kernel, target, str(chains), str(steps)],
        capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", out.stderr).group(1))


def machine():
    with open("/proc/cpuinfo") as file:
        flags = file.read()
    isa = "avx512" if "avx512f" in flags else "avx2" if "avx2" in flags else "base"
    compiler = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    return f"gcc {compiler}, {'avx2' if isa == 'avx512' else isa}"  # valgrind has no AVX-512


def recorded():
    if not os.path.exists(RECORD):
        return None, {}
    with open(RECORD) as file:
        lines = file.read().splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return lines[0].lstrip("# "), {(k, t, int(c)): float(n) for k, t, c, n in rows}


def main():
    record = "--record" in sys.argv
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    build = words[0] if words else "build"
    where, before = recorded()
    here, worse, rows = machine(), [], []
    for kernel, target, chains, steps in CASES:
        n = (count(build, kernel, target, chains, 2 * steps) - count(build, kernel, target, chains, steps)) / (chains * steps)
        old = before.get((kernel, target, chains))
        rows.append(f"{kernel:8} {target:11} {chains:3d} {n:12.1f}")
        print(f"{kernel:8} {target:11} {chains:3d} chains: {n:12.1f} instructions a step" +
              (f", recorded {old:.1f} ({100 * (n / old - 1):+.1f}%)" if old else ""), flush=True)
        if old and n > ALLOWED * old:
            worse.append(kernel + " " + target)
    if record:
        with open(RECORD, "w") as file:
            file.write(f"# {here}\n# kernel, target, chains, instructions of one step of one chain\n" + "\n".join(rows) + "\n")
    elif where != here:
        print(f"the record is of another machine ({where}); this is {here}: nothing is compared")
    elif worse:
        sys.exit("needs more instructions than recorded: " + ", ".join(worse))


main()
