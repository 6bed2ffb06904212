#!/usr/bin/env bash
# aisampler compare: every column is there, numbers are numbers, what does not apply is a dash, wrong words are refused.
# Argument: the build folder.
set -eu
ais=$1/aisampler
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
code() { local got=0; "$@" > "$work/stdout" 2> "$work/stderr" || got=$?; echo $got; }

iterations=10 # of the baseline; in brief (tests/support/brief.h) it is hardly trained
[ -z "${AIS_BRIEF:-}" ] || iterations=1
[ "$(code "$ais" compare mog2 --chains 4 --draws 400 --iterations $iterations -q -o "$work/mog2")" = 0 ]
for word in "training, s" "sampling, s" draws "density eval" "gradient eval" acceptance mean-ESS "worst ESS" "ESS/s with" \
    R-hat "KL of mode" "total variation" break-even; do
    grep -qF -- "$word" "$work/stdout" || { echo "no row $word"; exit 1; }
done
python3 - "$work/mog2" <<'PYTHON'
import json, math, sys, xml.dom.minidom
folder = sys.argv[1]
page = xml.dom.minidom.parse(folder + "/compare.html")
assert len(page.getElementsByTagName("tr")) == 18, "a heading and seventeen quantities"
if "without cairo" not in open(folder + "/compare.html").read():
    assert len(page.getElementsByTagName("svg")) == 5, "a panel for each sampler"
    assert open(folder + "/compare.png", "rb").read(8) == b"\x89PNG\r\n\x1a\n"
found = {one["sampler"]: one for one in json.load(open(folder + "/compare.json"))["samplers"]}
assert list(found) == ["ai", "hmc", "nuts", "rwm", "anice"], list(found)
for name, one in found.items():
    for key in ["warmup_seconds", "sample_seconds", "acceptance", "mean_ess_song", "worst_ess", "ess_per_second",
                "ess_per_second_all_in", "rhat", "total_variation"]:
        assert isinstance(one[key], float) and math.isfinite(one[key]) and one[key] > 0, (name, key, one[key])
    assert one["ess_per_second_all_in"] < one["ess_per_second"], name
    assert (one["train_seconds"] > 0) == (name in ("ai", "anice")), name
# Counted: 4 chains of 400 after 1000 steps, 40 gradients each; one density a step.
assert 4 * 1400 * 40 < found["hmc"]["gradient_evaluations"] < 4 * 1400 * 40 + 400, found["hmc"]  # and step sizes to start with
assert found["hmc"]["density_evaluations"] == 4  # the starting points
assert found["rwm"]["density_evaluations"] == 4 * 1401, found["rwm"]
assert found["rwm"]["start_evaluations"] == 4 and found["rwm"]["drawing_evaluations"] == 4 * 1400
assert found["ai"]["density_evaluations"] > 4 * 400
# Of two modes ten apart only the learned kernel sees both from every chain: no other one counts as fast.
assert found["ai"]["rhat"] < 1.05 < found["hmc"]["rhat"], (found["ai"]["rhat"], found["hmc"]["rhat"])
assert found["ai"]["break_even"] == 0 and not found["ai"]["never_pays"]
assert found["hmc"]["break_even"] is None
PYTHON
tr "\n" " " < "$work/stdout" | grep -q "No sampler without training mixed"

# The ladder crosses what the random walk does not; what its rounds took is counted as learning.
[ "$(code "$ais" compare mog2 --samplers ladder,rwm --draws 400 --json -q -o "$work/ladder")" = 0 ]
python3 - "$work/stdout" <<'PYTHON'
import json, sys
ladder, walk = json.load(open(sys.argv[1]))["samplers"]
assert ladder["sampler"] == ladder["kernel"] == "ladder" and ladder["mode_kl"] < 0.05 and ladder["rhat"] < 1.05, ladder
assert ladder["learning_evaluations"] > 1e5 and ladder["train_seconds"] > 0 and ladder["break_even"] is not None, ladder
PYTHON

# A density of one's own, without gradient and without known moments.
cat > "$work/o<w>n&.c" <<'C'
#include <aisampler/density.h>
static double logp(const double *x, void *data) { (void)data; return -0.5 * (x[0] * x[0] + x[1] * x[1]); }
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 2, .logp = logp};
C
[ "$(code "$ais" compare "$work/o<w>n&.c" --samplers rwm,hmc --draws 300 --json -q -o "$work/own")" = 0 ]
python3 - "$work/stdout" <<'PYTHON'
import json, sys
said = json.load(open(sys.argv[1]))
assert [one["sampler"] for one in said["samplers"]] == ["rwm"]
assert "hmc is left out: it needs a gradient" in said["left_out"]
assert said["samplers"][0]["mean_ess_song"] is None
PYTHON
python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$work/own/compare.html" # whatever its name

refuse() { # CODE PART words...
    local wanted=$1 part=$2
    shift 2
    [ "$(code "$ais" "$@")" = "$wanted" ] && [ "$(wc -l < "$work/stderr")" = 1 ] && grep -qF -- "$part" "$work/stderr" ||
        { echo "wrong: $*: $(cat "$work/stderr")"; exit 1; }
}
refuse 2 "needs a target" compare
refuse 2 "did you mean nuts" compare mog2 --samplers ai,nutz
refuse 2 "twice" compare mog2 --samplers hmc,hmc
refuse 2 "1 or more" compare mog2 --draws 0
refuse 2 "did you mean --samplers" compare mog2 --sampler hmc
refuse 2 "did you mean" compare mog3 --samplers hmc
echo "compare keeps its promises"
