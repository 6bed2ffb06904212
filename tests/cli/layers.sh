#!/usr/bin/env bash
# The layer check passes on the sources, and fails on an include that points the other way.
set -eu
bash scripts/layers.sh
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r src cli "$copy"
echo '#include "sampler/sample.h"' >> "$copy/src/map/henon.c"
if bash scripts/layers.sh "$copy" > "$copy/said"; then echo "an include against the flow was not noticed"; exit 1; fi
grep -q "map must not include sampler" "$copy/said"
echo '#include "kernel/kernel.h"' >> "$copy/cli/main.c"
bash scripts/layers.sh "$copy" | grep -q "public headers only"
