#!/usr/bin/env bash
# aisampler reproduce: one small experiment with its three files, printed numbers beside ours, refusals. Argument: the
# build folder.
set -eu
ais=$1/aisampler
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
code() { local got=0; "$@" > "$work/stdout" 2> "$work/stderr" || got=$?; echo $got; }

# Every experiment that the help names can be asked for, and no other.
[ "$(code "$ais" reproduce --help)" = 0 ]
for name in plane regressions triangle training speed; do grep -q "^  $name " "$work/stdout"; done

[ "$(code "$ais" reproduce --only triangle --trials 4 --iterations 3 --steps 50 -o "$work/triangle")" = 0 ]
grep -q "total variation" "$work/stdout"
python3 - "$work/triangle" <<'PYTHON'
import json, sys, xml.dom.minidom
folder = sys.argv[1]
page = xml.dom.minidom.parse(folder + "/reproduce.html")
pictures = len(page.getElementsByTagName("svg"))
assert pictures == 5 or "without cairo" in open(folder + "/reproduce.html").read(), pictures
found = {row["sampler"].split()[0]: row for row in json.load(open(folder + "/reproduce.json"))["triangle"]["rows"]}
assert list(found) == ["truth", "hmc", "anice", "paper", "ai"], list(found)
assert abs(found["truth"]["share 3"] - 2 / 3) < 1e-3 and found["truth"]["mean-ESS"] is None
ours = found["ai"]
assert abs(ours["share 3"] - 2 / 3) < 0.06 and ours["R-hat"] < 1.05 and ours["total variation"] < 0.15, ours
lines = open(folder + "/tables.md").read().splitlines()
cells = [line.count("|") for line in lines if line.startswith("|")]
assert len(cells) == 7 and len(set(cells)) == 1, cells
PYTHON
! ls "$work"/triangle/*.part 2> /dev/null

# Four densities by four samplers, ours beside what the paper prints; the default's worst ESS is nowhere small.
[ "$(code "$ais" reproduce --quick --only plane --trials 2 --iterations 2 --steps 20 -q -o "$work/plane")" = 0 ]
python3 - "$work/plane" <<'PYTHON'
import json, sys, xml.dom.minidom
folder = sys.argv[1]
rows = json.load(open(folder + "/reproduce.json"))["plane"]["rows"]
names = [row["target, sampler"].split(" (")[0] for row in rows]
assert names == [f"{t}, {s}" for t in ("mog2", "mog6", "ring", "ring5") for s in ("hmc", "anice", "paper", "ai")], names
printed = {"mog2, ai": 1000, "mog6, hmc": 2.4, "ring, anice": 1000, "ring5, paper": 396.5}
for name, ess in printed.items():
    assert rows[names.index(name)]["printed ESS"] == ess, rows[names.index(name)]
for name, row in zip(names, rows):
    assert row["ESS/s"] > 0 and 0 < row["accept."] <= 1, row
    assert not name.endswith(", ai") or (row["worst ESS"] > 100 and row["R-hat"] < 1.05), row
xml.dom.minidom.parse(folder + "/reproduce.html")
PYTHON

# Training and its discriminator: the curve's two panels, d(x, y) and the log ratio for three x, draws at three times.
[ "$(code "$ais" reproduce --only training --steps 40 -q -o "$work/training")" = 0 ]
python3 - "$work/training/reproduce.html" <<'PYTHON'
import sys, xml.dom.minidom
text = open(sys.argv[1]).read()
if "without cairo" not in text:
    pictures = xml.dom.minidom.parseString(text).getElementsByTagName("svg")
    assert len(pictures) == 2 + 6 + 3, len(pictures)
assert "(figure 4)" in text and "(figure 7)" in text
PYTHON

# The baseline's kernel does not depend on how many are trained at once.
for threads in 1 3; do
    "$ais" reproduce --only triangle --trials 4 --iterations 3 --steps 10 -j $threads -q -o "$work/threads-$threads"
    python3 - "$work/threads-$threads/reproduce.json" > "$work/anice-$threads" <<'PYTHON'
import json, sys
print([row for row in json.load(open(sys.argv[1]))["triangle"]["rows"] if row["sampler"] == "anice"])
PYTHON
done
cmp "$work/anice-1" "$work/anice-3"

refuse() { # CODE PART words...
    local wanted=$1 part=$2
    shift 2
    [ "$(code "$ais" "$@")" = "$wanted" ] && [ "$(wc -l < "$work/stderr")" = 1 ] && grep -qF -- "$part" "$work/stderr" ||
        { echo "wrong: $*: $(cat "$work/stderr")"; exit 1; }
}
refuse 2 "did you mean 'triangle'" reproduce --only triangel
refuse 2 "unknown experiment" reproduce --only x
refuse 2 "one argument too many" reproduce mog2
refuse 2 "is empty" reproduce --out ""
refuse 1 "cannot" reproduce --only triangle --out /proc/nowhere
echo "reproduce keeps its promises"
