#!/usr/bin/env bash
# Kernels, checkpoints and folders of runs are data: whatever they name, nothing of it is compiled, loaded or run.
# Argument: the build folder.
set -u
ais=$1/aisampler
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
failures=0
wrong() { echo "wrong: $1"; failures=$((failures + 1)); }

cat > "$work/trap.c" <<C
#include <stdio.h>
__attribute__((constructor)) static void sprung(void) { FILE *file = fopen("$work/sprung", "w"); if (file) fclose(file); }
#include <aisampler/density.h>
static double logp(const double *x, void *data) { (void)data; return -x[0] * x[0] - x[1] * x[1]; }
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 2, .logp = logp};
C
quick="--chains 4 --draws 50 --warmup 10 --seed 1 --threads 1 --quiet"
# It does spring where its code is asked for; such targets run code, as docs/c_files.md says.
"$ais" sample "$work/trap.c" --sampler rwm $quick --out "$work/asked" > /dev/null 2>&1
[ -e "$work/sprung" ] || wrong "the trap does not work"
rm -f "$work/sprung"

"$ais" train mog2 --evaluations 2000 --seed 1 --threads 1 --quiet -o "$work/plain.ais" > /dev/null 2>&1 || wrong "no kernel"
"$ais" sample mog2 --sampler rwm $quick --out "$work/run" > /dev/null 2>&1
python3 - "$work" <<'PYTHON' || wrong "the files cannot be changed"
import json, struct, sys
work = sys.argv[1]
trap = work + "/trap.c"

def seal(data):
    sum = 0xcbf29ce484222325
    for byte in data:
        sum = (sum ^ byte) * 0x100000001b3 % 2**64
    return data + struct.pack("<Q", sum)

kernel = open(work + "/plain.ais", "rb").read()
version, length = struct.unpack("<II", kernel[8:16])
head = json.loads(kernel[16:16 + length])
head.update({"target": trap, "library": trap, "data": "stan:" + trap})
text = json.dumps(head).encode()
open(work + "/named.ais", "wb").write(seal(kernel[:8] + struct.pack("<II", version, len(text)) + text + kernel[16 + length:-8]))

record = json.load(open(work + "/run/run.json"))
assert record["configuration"]["target"] == "mog2"
record["configuration"]["target"] = trap
json.dump(record, open(work + "/run/run.json", "w"))

path = work + "/run/drawing.checkpoint"
checkpoint = open(path, "rb").read()
changed = checkpoint[:-8].replace(b"mog2", b"a.so")
assert changed != checkpoint[:-8]
open(path, "wb").write(seal(changed))
PYTHON
"$ais" sample mog2 -k "$work/named.ais" $quick --out "$work/drawn" > "$work/said" 2>&1
[ -e "$work/drawn/run.json" ] || wrong "the kernel with another name is not read: $(cat "$work/said")"
"$ais" plot "$work/run" --out "$work/figures" > "$work/said" 2>&1 || wrong "plot: $(cat "$work/said")"
"$ais" diagnose "$work"/run/draws* > /dev/null 2>&1
"$ais" sample mog2 --sampler rwm $quick --out "$work/run" --resume > /dev/null 2> "$work/said"
grep -q "belongs to another" "$work/said" || wrong "a checkpoint of a.so: $(cat "$work/said")"
[ ! -e "$work/sprung" ] || wrong "a file that was only named was run"

# The only places that load or start anything.
cd "$(dirname "$0")/../.." || exit 1
places=$(grep -lrE '\b(dlopen|posix_spawnp?|system|popen|execv|execl|execvp|execlp|execve)\(' src cli --include='*.[ch]' | sort | tr '\n' ' ')
[ "$places" = "src/target/compile.c src/target/own.c src/target/stan_bridge.c " ] || wrong "code may be run by: $places"
exit $((failures > 0))
