#!/usr/bin/env bash
# aisampler bench: its parts measure something that can be true, in text and JSON, and refusals. Argument: the build folder.
set -eu
ais=$(cd "$1" && pwd)/aisampler
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
code() { local got=0; "$@" > "$work/stdout" 2> "$work/stderr" || got=$?; echo $got; }
refuse() { # CODE WORDS ARGUMENT...
    local wanted=$1 words=$2
    shift 2
    [ "$(code "$ais" bench "$@")" = "$wanted" ] && [ "$(wc -l < "$work/stderr")" = 1 ] && grep -q -- "$words" "$work/stderr" ||
        { echo "wrong: bench $*: $(cat "$work/stderr")"; exit 1; }
}

[ "$(code "$ais" bench paths steps threads proposal dimension --seconds 0.002 --json)" = 0 ]
python3 - "$work/stdout" <<'PYTHON'
import json, sys
found = json.load(open(sys.argv[1]))
assert sorted(found) == ["dimension", "paths", "proposal", "steps", "threads"], sorted(found)
paths = found["paths"]
assert paths["isa"] in ("base", "avx2", "avx512") and paths["fma_per_second"] > 1e8 and paths["bytes_per_second"] > 1e7
names = [path["name"] for path in paths["paths"]]
assert len(names) == len(set(names)) > 20 and {"normals", "henon map 2d relu", "density heart", "step nuts heart, one chain"} <= set(names)
for path in paths["paths"]:
    # The limit is measured in the same run: a share far above 1 would be a wrong count of operations.
    assert path["rate"] > 0 and path["scalar_ratio"] > 0.1, path
    assert path["peak_ratio"] is None or 0 < path["peak_ratio"] < 3, path
assert [row["chains"] for row in found["steps"]] == [1, 1000, 10000]
assert [row["points"] for row in found["proposal"]] == [10**k for k in range(6)]
assert [row["dim"] for row in found["dimension"]] == [2**k for k in range(1, 9)]
for part in ("steps", "proposal", "dimension"):
    assert all(value > 0 for row in found[part] for value in row.values()), found[part]
# 10^5 points take longer than one, and 256 dimensions longer than two.
assert found["proposal"][5]["proposal_seconds"] > 100 * found["proposal"][0]["proposal_seconds"]
assert found["dimension"][7]["nanoseconds"] > 10 * found["dimension"][0]["nanoseconds"]
threads = found["threads"]
assert abs(threads["two"] / threads["one"] - threads["ratio"]) < 1e-3 * threads["ratio"], threads
PYTHON

# A kernel of one's own, on its target; the same as a table.
"$ais" train banana --seed 1 -q -o "$work/banana.ais" > /dev/null
[ "$(code "$ais" bench steps --target banana --kernel "$work/banana.ais" --seconds 0.002)" = 0 ]
[ "$(grep -c 'steps/s' "$work/stdout")" = 3 ]
[ ! -s "$work/stderr" ]

refuse 2 "did you mean 'threads'" threds
refuse 2 "unknown part 'nothing'" nothing
refuse 2 "must be above 0" steps --seconds 0
refuse 2 "did you mean 'mog6'" steps --target mog66
refuse 1 "cannot open" steps --kernel "$work/nowhere.ais"
[ ! -s "$work/stdout" ]
refuse 2 "dimension 2" steps --target heart --kernel "$work/banana.ais"
refuse 1 "mpirun -n 2" ranks
echo "bench measures"
