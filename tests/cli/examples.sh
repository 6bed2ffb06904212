#!/usr/bin/env bash
# Every example is built and run, as its head says, and its answer is what it should be. Argument: the build folder.
set -u
build=$(cd "$1" && pwd)
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=$build:$PATH XDG_CACHE_HOME=$work/cache
failures=0 ran=" "
fail() { echo "$*"; failures=$((failures + 1)); }

# example FILE PATTERN COMMAND...: exit code 0 (trusted), and PATTERN in what it says.
example() {
    local file=$1 pattern=$2
    shift 2
    ran+="$file "
    [ -e "examples/$file" ] || fail "examples/$file is not there"
    "$@" >"$work/said" 2>&1 || fail "$file: $(tail -5 "$work/said")"
    grep -qE "$pattern" "$work/said" || fail "$file does not say '$pattern': $(tail -5 "$work/said")"
}

for program in 01_run 02_kernel; do
    cc -Wall -Werror -Iinclude "examples/$program.c" -L"$build" -Wl,-rpath,"$build" -laisampler -o "$work/$program" || fail "$program does not build"
    example $program.c "^trust these draws" "$work/$program"
done
example 03_own_density.c "^trust these draws" aisampler run examples/03_own_density.c --out "$work/03"
example 04_priors.c "log Z: -7\.1[0-9]* " aisampler run examples/04_priors.c --out "$work/04"
example 05_data_file.c "^trust these draws" aisampler run examples/05_data_file.c:data=examples/exam.csv --out "$work/05"
example 08_two_lines.c "log Z: -69\.[01]" aisampler run examples/08_two_lines.c:data=examples/readings.csv --draws 4000 --out "$work/08"
example 08_two_lines.c "log Z: -77\.[89]" aisampler run examples/08_two_lines.c:data=examples/readings.csv,flags=-DLINES=1 --out "$work/08-one"

if python=$(bash tests/support/venv.sh "$build" python-all); then
    VIRTUAL_ENV=$(dirname "$(dirname "$python")")
    export VIRTUAL_ENV AISAMPLER_LIBRARY=$build/libaisampler.so PYTHONPATH=$root/python
    example 06_priors.py "evidence for a slope: 10\.[34]" "$python" examples/06_priors.py
    example 07_eight_schools.stan "^mu +4\.[2-7]" aisampler run stan:examples/07_eight_schools.stan:examples/07_eight_schools.json --effective 4000 --out "$work/07"
    grep -qE "^trust these draws" "$work/said" || fail "07_eight_schools.stan: $(tail -1 "$work/said")"
    example 08_two_lines.py "the lines cross: 0\.8[2-6]" "$python" examples/08_two_lines.py
    grep -qE "evidence for two lines: 8\.[678]" "$work/said" || fail "08_two_lines.py: $(tail -1 "$work/said")"
    "$python" examples/make_readings.py | cmp - examples/readings.csv || fail "make_readings.py makes other readings"
    for file in examples/0*; do
        file=$(basename "$file")
        [[ $ran == *" $file "* || $file == *.json ]] || fail "nobody runs $file"
    done
else
    echo "without Python packages: 06, 07 and 08_two_lines.py are left out"
fi
for file in examples/0*; do grep -qF "$(basename "${file%.json}")" examples/README.md || fail "examples/README.md does not mention $file"; done
echo "examples run:$ran$failures failures"
[ $failures = 0 ]
