#!/usr/bin/env bash
# The layer check passes on the sources and on the objects of the build, and fails on an include or a call that points
# the other way. docs/architecture.svg is what its script draws.
set -eu
build=$1
python3 scripts/layers.py
python3 scripts/layers.py --objects "$build"
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r src cli include docs "$copy"
fails() { # COMMAND... SENTENCE: it fails, and says so
    local sentence=${*: -1}
    if "${@:1:$#-1}" > "$copy/said"; then echo "not noticed: $sentence"; exit 1; fi
    grep -qF -- "$sentence" "$copy/said" || { cat "$copy/said"; exit 1; }
}
echo '#include "sampler/sample.h"' >> "$copy/src/map/henon.c"
fails python3 scripts/layers.py "$copy" "map must not include sampler"
cp src/map/henon.c "$copy/src/map/henon.c"
echo '#include <aisampler/run.h>' >> "$copy/src/target/empirical.c"
fails python3 scripts/layers.py "$copy" "target must not include run (<aisampler/run.h>)"
cp src/target/empirical.c "$copy/src/target/empirical.c"
echo '#include "kernel.h"' >> "$copy/include/aisampler/draws.h"
fails python3 scripts/layers.py "$copy" "draws must not include kernel (<aisampler/kernel.h>)"
cp include/aisampler/draws.h "$copy/include/aisampler/draws.h"
echo '#include "kernel/kernel.h"' >> "$copy/cli/main.c"
fails python3 scripts/layers.py "$copy" "public headers only"

# A call from the first layer to the last.
mkdir -p "$copy/CMakeFiles/x.dir/src/base" "$copy/CMakeFiles/x.dir/src/run"
echo 'int ais_up(void); int ais_down(void); int ais_down(void) { return ais_up(); }' > "$copy/a.c"
echo 'int ais_up(void); int ais_up(void) { return 1; }' > "$copy/b.c"
cc -c "$copy/a.c" -o "$copy/CMakeFiles/x.dir/src/base/a.c.o"
cc -c "$copy/b.c" -o "$copy/CMakeFiles/x.dir/src/run/b.c.o"
echo '[{"command": "cc -o CMakeFiles/x.dir/src/base/a.c.o"}, {"command": "cc -o CMakeFiles/x.dir/src/run/b.c.o"}]' \
    > "$copy/compile_commands.json"
fails python3 scripts/layers.py --objects "$copy" "base/a.c.o calls ais_up of run"

# The picture, and the files that the documentation names.
python3 scripts/architecture.py --check
cp -r scripts "$copy"
(
    cd "$copy"
    echo '#include "diagnostics/fft.h"' >> src/classical/hmc.c
    fails python3 scripts/architecture.py --check "is not what the sources say"
)
for path in $(grep -ohE '\b(src|cli|include|scripts|tests)/[a-z_0-9/]+\.(c|h|py|sh)\b' docs/*.md CONTRIBUTING.md README.md | sort -u); do
    [ -e "$path" ] || { echo "the documentation names $path, which is not there"; exit 1; }
done
