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
assert len(ids) == len(set(ids)), "an id occurs twice"
used = set(re.findall(r'(?:href="#|url\(#)([^")]*)', text))
assert used <= set(ids), used - set(ids)
headings = [node.getAttribute("id") for node in page.getElementsByTagName("h2") if node.getAttribute("id")]
assert headings == ["corner", "marginals", "rank", "trace", "autocorrelation", "modes", "jumps"], headings
assert len(page.getElementsByTagName("svg")) == 12, len(page.getElementsByTagName("svg"))
assert "currentColor" in text and "rgb(20%" not in text
PYTHON

# Without any font, as in an empty container, letters are cairo's own, and nothing complains.
mkdir "$work/plain"
FONTCONFIG_FILE=/nowhere/fonts.conf "$ais" plot "$work/run" --figure corner -q -o "$work/plain" 2> "$work/stderr"
[ ! -s "$work/stderr" ]
well_formed "$work/plain/corner.svg"
"$ais" plot "$work/run" --figure corner -q -o "$work/usual"
! cmp -s "$work/plain/corner.svg" "$work/usual/corner.svg"

# Figures from a folder know the target; from files only what --target says.
[ "$("$ais" plot "$work/run" -o "$work/svg" | wc -l)" = 7 ]
well_formed "$work"/svg/*.svg
[ "$("$ais" plot "$work"/run/draws-*.csv -o "$work/csv" | wc -l)" = 5 ]
[ "$("$ais" plot "$work/run/draws.nc" --target mog6 --figure jumps,corner --format pdf -o "$work/pdf")" = "$work/pdf/jumps.pdf
$work/pdf/corner.pdf" ]
head -c 5 "$work/pdf/corner.pdf" | grep -q '%PDF-'
"$ais" plot "$work/run" --figure marginals --parameters x.2 --format png -q -o "$work/png"
head -c 4 "$work/png/marginals.png" | grep -q PNG
"$ais" plot "$work/run" --figure trace -p x -q -o "$work/vector"
[ "$(ls "$work/vector")" = trace.svg ]
! ls "$work"/*/*.part 2> /dev/null

# One parameter has a corner plot too. True values from words and from a file give the same bytes, and others than none;
# pages show the parameters that were asked for, and the truth.
"$ais" plot "$work/run" --figure corner -p x.1 -q -o "$work/one"
well_formed "$work/one/corner.svg"
echo '{"x": [2.5, -4.25]}' > "$work/truth.json"
"$ais" plot "$work/run" --figure corner --truth x.2=-4.25,x.1=2.5 -q -o "$work/words"
"$ais" plot "$work/run" --figure corner --truth "$work/truth.json" -q -o "$work/file"
"$ais" plot "$work/run" --figure corner -q -o "$work/untrue"
cmp "$work/words/corner.svg" "$work/file/corner.svg"
! cmp -s "$work/words/corner.svg" "$work/untrue/corner.svg"
[ "$(code "$ais" sample mog6 --sampler rwm --draws 500 --report --parameters x.2 --truth x.2=1 -q -o "$work/chosen")" = 3 ]
grep -q "corner plot of x.2<" "$work/chosen/report.html"
[ "$(code "$ais" diagnose "$work/run/draws.nc" --report "$work/chosen.html" --parameters x.2,x.1 --truth "$work/truth.json" -q)" = 3 ]
grep -q "corner plot of x.2, x.1<" "$work/chosen.html"

# What bench measured, as a figure; refusals come before anything is measured.
for format in svg png pdf; do "$ais" bench steps --seconds 1e-4 --out "$work/steps.$format" > "$work/stdout"; done
grep -q "steps/s" "$work/stdout"
well_formed "$work/steps.svg"
head -c 4 "$work/steps.png" | grep -q PNG
head -c 5 "$work/steps.pdf" | grep -q '%PDF-'
[ "$(code "$ais" bench steps --out "$work/steps.gif")" = 2 ]
grep -q "must end in .svg, .png or .pdf" "$work/stderr"
[ "$(code "$ais" bench threads --out "$work/threads.svg")" = 2 ]
grep -q "none of these was chosen" "$work/stderr"
[ "$(code "$ais" bench steps --seconds 1e-4 --out "$work/nowhere/steps.svg")" = 1 ]
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
refuse 2 "did you mean 'x.2'" plot "$work/run" --truth x.1=0,x.22=1 -o "$work/bad"
refuse 2 "a number for x.1, not '1e'" plot "$work/run" --truth x.1=1e -o "$work/bad"
refuse 2 "neither NAME=VALUE nor a file" plot "$work/run" --truth nowhere.json -o "$work/bad"
echo '{"x": [1, "two"]}' > "$work/text.json"
refuse 2 "x.2 is not a number" plot "$work/run" --truth "$work/text.json" -o "$work/bad"
echo '{"x": [1, 2, 3]}' > "$work/three.json"
refuse 2 "no parameter 'x.3'" plot "$work/run" --truth "$work/three.json" -o "$work/bad"
echo '[1' > "$work/cut.json"
refuse 2 "is not JSON" plot "$work/run" --truth "$work/cut.json" -o "$work/bad"
refuse 2 "for the figures of --report" diagnose "$work/run/draws.nc" --truth x.1=0
refuse 2 "add --report" sample mog6 --parameters x.1 -q -o "$work/bad"
refuse 2 "no parameter 'y'" run mog6 --parameters y -q -o "$work/bad"
refuse 1 "has neither draws.nc" plot "$work" -o "$work/bad"
refuse 1 "dimension 14" plot "$work/run" --target heart -o "$work/bad"
refuse 1 "cannot" plot "$work/nowhere.csv" -o "$work/bad"
refuse 1 "cannot" plot "$work/run" -o /proc/figures
refuse 2 "name of a file" diagnose "$work/run/draws.nc" --report "$work/"
echo "plot and report.html keep their promises"
