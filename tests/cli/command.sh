#!/usr/bin/env bash
# What the command promises: help for everything, exit codes, JSON, files. Argument: the build folder.
set -eu
ais=$1/aisampler
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
code() { local got=0; "$@" > "$work/stdout" 2> "$work/stderr" || got=$?; echo $got; }

[ "$(code "$ais")" = 2 ]
[ "$(code "$ais" --help)" = 0 ]
for command in targets run train sample diagnose plot; do
    grep -q "^  $command " "$work/stdout" || "$ais" --help | grep -q "^  $command "
    [ "$(code "$ais" $command --help)" = 0 ]
    grep -q "^usage: aisampler $command" "$work/stdout"
done
"$ais" --version | grep -qE '^aisampler [0-9]+\.[0-9]+\.[0-9]+$'
"$ais" targets --json | python3 -c '
import json, sys
names = [t["name"] for t in json.load(sys.stdin)]
assert {"mog2", "mog6", "ring", "ring5", "triangle", "heart", "german", "australian", "gaussian", "funnel", "banana"} <= set(names), names'

# A good run: 0, and all files.
[ "$(code "$ais" sample gaussian:dim=3 --draws 2000 --json --out "$work/good")" = 0 ]
python3 - "$work" <<'PYTHON'
import json, sys
work = sys.argv[1]
printed = json.load(open(work + "/stdout"))
written = json.load(open(work + "/good/summary.json"))
assert printed == written
for key in ("target dim sampler chains draws seed acceptance involution_error train_seconds sample_seconds worst_ess "
            "worst_ess_function worst_ess_song worst_ess_error ess_per_second ess_per_second_with_training").split():
    assert key in written, key
for key in "name mean sd mcse q5 q50 q95 ess_bulk ess_tail rhat ess_song ess_song_square".split():
    assert all(key in p for p in written["parameters"]), key
assert len(written["parameters"]) == 3 and written["chains"] == 4 and written["draws"] == 2000
run = json.load(open(work + "/good/run.json"))
assert run["configuration"]["target"] == "gaussian:dim=3" and run["configuration"]["seed"] == 1
PYTHON
[ "$(ls "$work/good" | tr '\n' ' ')" = "drawing.checkpoint drawing.checkpoint.journal draws-1.csv draws-2.csv draws-3.csv draws-4.csv draws.nc run.json summary.json " ]
# A seed beyond JSON's integers keeps its digits; a run too short to judge is judged as such.
[ "$(code "$ais" sample ring --seed 18446744073709551615 --draws 1 -q -o "$work/short")" = 3 ]
grep -q '"seed": "18446744073709551615"' "$work/short/run.json"
grep -q '"trust": false' "$work/short/summary.json"

# NUTS cannot cross between the modes of mog6: the diagnostics notice, and the code is 3.
[ "$(code "$ais" sample mog6 --out "$work/stuck")" = 3 ]
grep -q "do not trust these draws" "$work/stdout"
[ "$(code "$ais" diagnose "$work"/stuck/draws.nc --quiet)" = 3 ]
[ ! -s "$work/stdout" ]
[ "$(code "$ais" diagnose "$work"/stuck/draws.nc --target mog6)" = 3 ]
grep -q "mode" "$work/stdout"
[ "$(code "$ais" diagnose "$work"/good/draws-*.csv)" = 0 ]
grep -q "trust these draws" "$work/stdout"

# Options in any order, both spellings.
[ "$(code "$ais" sample --draws=50 -c 2 ring -q --warmup 50 -o "$work/any" --format csv)" = 3 ]
[ "$(ls "$work/any" | tr '\n' ' ')" = "drawing.checkpoint drawing.checkpoint.journal draws-1.csv draws-2.csv run.json summary.json " ]
# One's own density, a cycle, a dense metric, a fixed step.
[ "$(code "$ais" sample examples/03_own_density.c -q -o "$work/own")" = 3 ]
[ "$(code "$ais" sample ring --sampler nuts+rwm -q -o "$work/cycle")" = 0 ]
[ "$(code "$ais" sample heart --sampler nuts --metric dense -q -o "$work/dense")" = 0 ]
[ "$(code "$ais" sample heart --sampler hmc --step-size 0.012 -q -o "$work/hmc")" = 0 ]

# help COMMAND is COMMAND --help, and an option that was renamed answers with its new name.
for command in $("$ais" help --as names); do
    [ "$("$ais" help $command)" = "$("$ais" $command --help)" ]
done
renamed() { # NEW WORDS...
    local new=$1
    shift
    [ "$(code "$ais" "$@")" = 2 ] && [ "$(wc -l < "$work/stderr")" = 1 ] && grep -q "is now '$1 $new'" "$work/stderr"
}
for command in run train; do
    renamed --map $command ring --kernel spline
    renamed --map $command ring --kernel=spline
    renamed --map $command ring -k spline
    renamed --start-scale $command ring --scale 3
done
renamed --out bench steps --figure steps.svg
[ "$(code "$ais" train ring --start hunt -q -o "$work/no.ais")" = 2 ] && grep -q "is now '--start search'" "$work/stderr"
renamed --out bench steps -f steps.svg

# On a narrow terminal no line is longer than the terminal: a number is never broken.
cat > "$work/narrow.py" <<'PYTHON'
import fcntl, os, pty, re, struct, subprocess, sys, termios
width, command = int(sys.argv[1]), sys.argv[2:]
us, terminal = pty.openpty()
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
child = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal)
os.close(terminal)
text = b""
try:
    while piece := os.read(us, 65536):
        text += piece
except OSError:
    pass
child.wait()
lines = [re.sub(r"\x1b\[\d*[A-Z]", "", line).strip("\r") for line in text.decode().split("\n")]
long = [line for line in lines if len(line) > width and " are in " not in line]
print("\n".join(lines))
sys.exit(f"longer than {width}: {long}" if long or len(lines) < 5 else 0)
PYTHON
for width in 45 60 100; do
    python3 "$work/narrow.py" $width "$ais" diagnose "$work"/good/draws.nc > "$work/stdout"
    grep -q 'rhat$' "$work/stdout"
    python3 "$work/narrow.py" $width "$ais" compare ring --samplers nuts,rwm,slice --draws 100 -o "$work/compared" > "$work/stdout"
    python3 "$work/narrow.py" $width "$ais" run ring --draws 100 -o "$work/narrow" > "$work/stdout"
    grep -q 'seconds' "$work/stdout"
done
echo "the command keeps its promises"
