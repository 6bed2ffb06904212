#!/usr/bin/env bash
# Ctrl-C finishes the step and leaves complete files of equal length. Argument: the build folder.
set -eu
ais=$1/aisampler
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$ais" sample german --chains 3 --draws 100000000 --warmup 100 --quiet --out "$work/out" 2> "$work/stderr" &
job=$!
for _ in $(seq 100); do # until there are draws on the disk
    sleep 0.1
    [ "$(stat -c %s "$work"/out/draws-1.csv.part 2>/dev/null || echo 0)" -gt 100000 ] && break
done
kill -INT $job
code=0
wait $job || code=$?
[ $code = 1 ] || { echo "exit $code"; cat "$work/stderr"; exit 1; }
grep -q "stopped after .* of 100000000 planned draws per chain; the files in .* are complete up to there" "$work/stderr"
! ls "$work"/out/*.part 2>/dev/null
rows=$(for file in "$work"/out/draws-*.csv; do grep -vc '^#' "$file"; done | sort -u)
[ "$(echo "$rows" | wc -l)" = 1 ] && [ "$rows" -gt 2 ]
"$ais" diagnose "$work"/out/draws-*.csv --json > "$work/csv.json" || [ $? = 3 ]
"$ais" diagnose "$work"/out/draws.nc --json > "$work/nc.json" || [ $? = 3 ]
cmp "$work/csv.json" "$work/nc.json"
grep -q "\"draws\": $((rows - 1))" "$work/csv.json"
grep -q '"stopped": true' "$work/out/run.json"
# The mean is over the steps made: chains that were ahead when the run stopped do not push it above 1.
python3 -c 'import json, sys; a = json.load(open(sys.argv[1]))["acceptance"]; assert 0.5 < a <= 1, a' "$work/out/summary.json"
# One draw of a thinned run may take hours: the run stops between its steps, and an older summary does not survive.
"$ais" sample german --chains 2 --draws 1 --thin 1e9 --warmup 100 --quiet --out "$work/out" 2> "$work/stderr" &
job=$!
sleep 1
kill -TERM $job
for _ in $(seq 100); do kill -0 $job 2>/dev/null || break; sleep 0.1; done
kill -KILL $job 2>/dev/null && { echo "does not stop between the steps of a draw"; exit 1; }
[ ! -e "$work/out/summary.json" ]
echo "$((rows - 1)) draws per chain, complete in both formats"
