# What is built is hardened: position-independent, its tables read-only before the program begins (full RELRO), no stack
# that can be run, stack guards, and checked forms of memcpy and others. A sanitizer's build is none of these. And nothing
# is called that writes what all threads share (lgamma writes signgam, which was a race).
set -u
build=$1
grep -q 'AIS_SANITIZE:[A-Z]*=OFF' "$build/CMakeCache.txt" && grep -q 'CMAKE_BUILD_TYPE:STRING=Release' "$build/CMakeCache.txt" || exit 77
command -v readelf >/dev/null || exit 77
failures=0
wrong() { echo "wrong: $*"; failures=$((failures + 1)); }

shared='lgamma[fl]?|strtok|localtime|gmtime|asctime|ctime|s?rand|s?random|[delmn]rand48|setlocale|tmpnam|getpwuid'
for file in "$build/aisampler" "$build/libaisampler.so"; do
    readelf -hW "$file" | grep -q 'Type: *DYN' || wrong "$file is at a fixed address"
    readelf -lW "$file" | grep -q GNU_RELRO || wrong "$file has no RELRO"
    readelf -dW "$file" | grep -q 'BIND_NOW\|Flags:.*NOW' || wrong "$file binds lazily"
    readelf -lW "$file" | grep GNU_STACK | grep -q 'RW ' || wrong "$file has a stack that can be run"
    readelf -dW "$file" | grep -q 'RPATH.*[^$]/tmp' && wrong "$file looks for libraries where anybody may write"
    calls=$(readelf -sW --dyn-syms "$file" | awk '$7 == "UND" { sub("@.*", "", $8); print $8 }' | grep -xE "$shared" | sort -u)
    [ -z "$calls" ] || wrong "$file calls what is not safe in threads:" $calls
    readelf -sW --dyn-syms "$file" | grep -q __stack_chk_fail || wrong "$file has no stack guards"
    readelf -sW --dyn-syms "$file" | grep -q '__[a-z]*_chk@' || wrong "$file has no checked functions"
done
exit $((failures > 0))
