#!/usr/bin/env bash
# An installed library serves programs outside of the tree: by pkg-config, by find_package, as a command; staged by
# DESTDIR and moved afterwards. Public functions alone are exported. Argument: the build folder.
set -eu
build=$(cd "$1" && pwd)
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
DESTDIR=$work/stage cmake --install "$build" --prefix /opt/ais >"$work/log" || { cat "$work/log"; exit 1; }
mv "$work/stage/opt/ais" "$work/moved"
prefix=$work/moved
library=$prefix/lib

# Man pages and completions are where man and shells look for them, of this very command.
for command in $("$prefix/bin/aisampler" help --as names); do
    "$prefix/bin/aisampler" help "$command" --as man | cmp - "$prefix/share/man/man1/aisampler-$command.1"
done
"$prefix/bin/aisampler" help --as man | cmp - "$prefix/share/man/man1/aisampler.1"
"$prefix/bin/aisampler" help --as bash | cmp - "$prefix/share/bash-completion/completions/aisampler"
"$prefix/bin/aisampler" help --as zsh | cmp - "$prefix/share/zsh/site-functions/_aisampler"
[ "$(man -M "$prefix/share/man" -w aisampler-run 2> /dev/null || echo none)" = "$prefix/share/man/man1/aisampler-run.1" ] ||
    ! command -v man > /dev/null || { echo "man does not find aisampler-run"; exit 1; }

# What is exported is what the headers declare, and all of it.
nm -D --defined-only "$library/libaisampler.so" | awk '{print $3}' | sort >"$work/exported"
cat "$prefix"/include/aisampler/*.h | tr -d '\n' | sed 's|/\*|\n&|g; s|\*/|&\n|g' | grep -v '^/\*' | tr ';{}' '\n\n\n' |
    grep -v typedef | grep -oE '\bais_[a-z0-9_]+(\(|\[)' | tr -d '([' | sort -u >"$work/declared"
diff "$work/declared" "$work/exported" || { echo "exported and declared names differ"; exit 1; }

cd "$work" # nothing of the tree is near
cp "$root/examples/01_run.c" "$root/examples/03_own_density.c" .
export PKG_CONFIG_PATH=$library/pkgconfig LD_LIBRARY_PATH=$library
cc 01_run.c $(pkg-config --cflags --libs aisampler) -o by-pkg-config
./by-pkg-config >said || { cat said; exit 1; }
grep -q "^trust these draws" said || { cat said; exit 1; }
[ "$(pkg-config --modversion aisampler)" = "$("$prefix/bin/aisampler" --version | awk '{print $2}')" ]

cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(outside LANGUAGES C)
find_package(aisampler 0.1 REQUIRED)
add_executable(by-cmake 01_run.c)
target_link_libraries(by-cmake PRIVATE aisampler::aisampler)
CMAKE
cmake -S . -B built -DCMAKE_PREFIX_PATH="$prefix" >log && cmake --build built >>log || { cat log; exit 1; }
./built/by-cmake | grep "^trust these draws" > /dev/null # the numbers depend on measured costs

# The command finds its library without help, and the header for a density of one's own beside it.
unset LD_LIBRARY_PATH
export XDG_CACHE_HOME=$work/cache
"$prefix/bin/aisampler" sample 03_own_density.c --draws 200 --quiet --out drawn || [ $? = 3 ]
[ -s drawn/summary.json ]
ldd "$prefix/bin/aisampler" | grep -q "libaisampler.so.* => $prefix/" || { ldd "$prefix/bin/aisampler"; exit 1; }
echo "$(wc -l <"$work/exported") names exported; programs outside of the tree build and run"
