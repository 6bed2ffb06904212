#!/usr/bin/env bash
# aisampler plot and report.html: every figure in every format, well-formed, the right parameters, refusals. Argument:
# the build folder.
set -eu
ais=$1/aisampler
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
code() { local got=0; "$@" > "$work/stdout" 2> "$work/stderr" || got=$?; echo $got; }
well_formed() { python3 -c 'import sys, xml.dom.minidom
for path in sys.argv[1:]: xml.dom.minidom.parse(path)' "$@"; }

[ "$(code "$ais" plot --help)" = 0 ]
grep -q "autocorrelation" "$work/stdout"
[ "$(code "$ais" sample mog6 --sampler rwm --draws 500 --report -q -o "$work/run")" = 3 ]
if ! "$ais" plot "$work/run" -q -o "$work/none" 2> "$work/stderr"; then
    grep -q "built without cairo" "$work/stderr" # the library's own answer; then the rest cannot be tested
    grep -q "without cairo" "$work/run/report.html"
    echo "built without cairo: figures were not tested"
    exit 0
fi

# A page: verdict first, every section, no scripts, nothing from elsewhere, ids used once.
python3 - "$work/run/report.html" <<'PYTHON'
import re, sys, xml.dom.minidom
path = sys.argv[1]
text = open(path, encoding="utf-8").read()
page = xml.dom.minidom.parse(path)
body = re.sub(r"<style>.*?</style>", "", text, flags=re.S)
assert body.index("Do not trust these draws") < body.index("<h2>Parameters")
assert "<script" not in text and "http-equiv" not in text
assert not re.findall(r'(?:href|src)="(?!#|data:)[^"]*"', text), "something is loaded from elsewhere"
ids = re.findall(r'\bid="([^"]*)"', text)
assert len(ids) == len(set(ids)), "an id is there twice"
used = set(re.findall(r'(?:href="#|url\(#)([^")]*)', text))
assert used <= set(ids), used - set(ids)
headings = [node.getAttribute("id") for node in page.getElementsByTagName("h2") if node.getAttribute("id")]
assert headings == ["marginals", "rank", "trace", "autocorrelation", "pairs", "modes", "jumps"], headings
assert len(page.getElementsByTagName("svg")) == 13, len(page.getElementsByTagName("svg"))
assert "currentColor" in text and "rgb(20%" not in text
PYTHON

# Figures from a folder know the target; from files only what --target says.
[ "$("$ais" plot "$work/run" -o "$work/svg" | wc -l)" = 7 ]
well_formed "$work"/svg/*.svg
[ "$("$ais" plot "$work"/run/draws-*.csv -o "$work/csv" | wc -l)" = 5 ]
[ "$("$ais" plot "$work/run/draws.nc" --target mog6 --figure jumps,pairs --format pdf -o "$work/pdf")" = "$work/pdf/jumps.pdf
$work/pdf/pairs.pdf" ]
head -c 5 "$work/pdf/pairs.pdf" | grep -q '%PDF-'
"$ais" plot "$work/run" --figure marginals --parameters x.2 --format png -q -o "$work/png"
head -c 4 "$work/png/marginals.png" | grep -q PNG
"$ais" plot "$work/run" --figure trace -p x -q -o "$work/vector"
[ "$(ls "$work/vector")" = trace.svg ]
! ls "$work"/*/*.part 2> /dev/null

# What bench measured, as a figure; refusals come before anything is measured.
for format in svg png pdf; do "$ais" bench steps --seconds 1e-4 --figure "$work/steps.$format" > "$work/stdout"; done
grep -q "steps/s" "$work/stdout"
well_formed "$work/steps.svg"
head -c 4 "$work/steps.png" | grep -q PNG
head -c 5 "$work/steps.pdf" | grep -q '%PDF-'
[ "$(code "$ais" bench steps --figure "$work/steps.gif")" = 2 ]
grep -q "must end in .svg, .png or .pdf" "$work/stderr"
[ "$(code "$ais" bench threads --figure "$work/threads.svg")" = 2 ]
grep -q "none of which is measured" "$work/stderr"
[ "$(code "$ais" bench steps --seconds 1e-4 --figure "$work/nowhere/steps.svg")" = 1 ]
! ls "$work"/*.part "$work/threads.svg" 2> /dev/null

# The training curve comes from run.json; a report of draws that others made.
"$ais" run mog2 --steps 50 --draws 200 -q -o "$work/learned" || [ $? = 3 ]
"$ais" plot "$work/learned" --figure training -q -o "$work/training"
well_formed "$work/training/training.svg" "$work/learned/report.html"
grep -q 'id="training"' "$work/learned/report.html"
[ "$(code "$ais" diagnose "$work/run/draws.nc" --report "$work/other.html" -q)" = 3 ]
well_formed "$work/other.html"
# Names of any kind come through as text.
printf '"<b>&amp;",y\n1,2\n2,1\n3,5\n0,1\n4,4\n' > "$work/odd.csv"
[ "$(code "$ais" diagnose "$work/odd.csv" --report "$work/odd.html" -q)" = 3 ]
well_formed "$work/odd.html"
! grep -q "<b>" "$work/odd.html"
# A later run that cannot be judged does not keep the page of an earlier one.
[ "$(code "$ais" sample mog6 --sampler rwm --draws 500 -q -o "$work/run")" = 3 ]
[ ! -e "$work/run/report.html" ]

refuse() { # CODE PART words...
    local wanted=$1 part=$2
    shift 2
    [ "$(code "$ais" "$@")" = "$wanted" ] && [ "$(wc -l < "$work/stderr")" = 1 ] && grep -qF -- "$part" "$work/stderr" ||
        { echo "wrong: $*: $(cat "$work/stderr")"; exit 1; }
}
refuse 2 "needs files" plot
refuse 2 "did you mean 'trace'" plot "$work/run" --figure tracs -o "$work/bad"
refuse 2 "did you mean 'marginals'" plot "$work/run" --figure rank,marginal -o "$work/bad"
refuse 2 "one of svg|png|pdf" plot "$work/run" --format gif
refuse 2 "did you mean 'x.2'" plot "$work/run" --parameters x.1,x.22 -o "$work/bad"
refuse 2 "did you mean --figure" plot "$work/run" --figur trace
refuse 2 "no training curve" plot "$work/run" --figure training -o "$work/bad"
refuse 2 "known modes" plot "$work/odd.csv" --figure modes -o "$work/bad"
refuse 2 "two parameters" plot "$work/run" --figure pairs -p x.1 -o "$work/bad"
refuse 1 "has neither draws.nc" plot "$work" -o "$work/bad"
refuse 1 "dimension 14" plot "$work/run" --target heart -o "$work/bad"
refuse 1 "cannot" plot "$work/nowhere.csv" -o "$work/bad"
refuse 1 "cannot" plot "$work/run" -o /proc/figures
refuse 2 "name of a file" diagnose "$work/run/draws.nc" --report "$work/"
echo "plot and report.html keep their promises"
