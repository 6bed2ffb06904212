#!/usr/bin/env bash
# Reports in a browser, narrow and wide, light and dark: learned 2D, many parameters, draws not to be trusted, and the
# pages of compare and reproduce.
# Argument: the build folder.
set -u
ais=$1/aisampler
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v chromium > /dev/null || { echo "chromium is not installed: scripts/packages.sh test"; exit 1; }
"$ais" run mog6 --steps 300 --draws 500 -q -o "$work/learned"
"$ais" sample gaussian:dim=50 -q --report -o "$work/many"
[ -e "$work/many/report.html" ] && grep -q "without cairo" "$work/many/report.html" &&
    { echo "built without cairo: there are no figures to look at"; exit 0; }
"$ais" compare mog2 --samplers ai,nuts,rwm --draws 500 -q -o "$work/compared" > /dev/null
"$ais" reproduce --only triangle --trials 4 --iterations 3 --steps 10 -q -o "$work/paper"
python3 tests/support/report_browser.py "$work/learned/report.html" "$work/many/report.html" \
    "$work/compared/compare.html" "$work/paper/reproduce.html"
