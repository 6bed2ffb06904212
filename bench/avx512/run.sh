#!/usr/bin/env bash
# Runs tests on the AVX-512 bodies where the machine has none: in Bochs, which emulates a whole computer with a Skylake-X,
# under Debian's kernel. Prints test, verdict and seconds; exit code 1 when a test failed or was not reached.
#     bash bench/avx512/run.sh [TEST...]     those named, else all of the list below
# AIS_BUILD: our build folder (build). Work files are in its avx512/; serial.txt there is all that the tests printed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/../.." && pwd)
build=$(realpath -m "${AIS_BUILD:-$project/build}")
work=$build/avx512

# What goes through lanes and takes little: the emulator needs some hundred times as long as a processor. double_* are the
# tests of gradients with networks in double compiled for AVX-512; the ordinary build compiles those for the least
# instruction set only.
tests=(law_instruction_sets unit_activation unit_dense unit_whitening unit_lattice unit_base unit_population
    unit_start_pieces unit_regression_batch unit_anice law_independent law_bent law_regressions law_invariance
    double_ratio double_discriminator double_objectives double_maps double_henon_objective law_henon_training
    law_involution)
[ $# -eq 0 ] || tests=("$@")

bash "$project/scripts/packages.sh" build test emulator
[ -x "$build/aisampler" ] || { echo "build the project first: make build" >&2; exit 1; }
rm -rf "$work/root" "$work/cd" "$work/serial.txt" "$work"/boot.iso*
mkdir -p "$work"/{kernel,cd,root/{bin,proc,dev,tmp,tests}}
cd "$work"

# The programs, every library under the name the program asks for, and a shell.
wide="-mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mprefer-vector-width=512"
for test in "${tests[@]}"; do
    program=$build/tests/$test
    case $test in double_*)
        [ -e double/build.ninja ] ||
            cmake -S "$project" -B double -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS=$wide" >/dev/null
        cmake --build double --target "gradient_${test#double_}" >/dev/null
        program=double/tests/gradient_${test#double_} ;;
    esac
    cp "$program" "root/tests/$test"
    ldd "$program" | grep -o '/[^ ]*' | while read -r library; do
        [ -e "root$library" ] || install -D "$library" "root$library"
    done
done
cp "$(command -v busybox)" root/bin/
cp "$here/init" root/init
echo "${tests[*]}" >root/list
(cd root && find . | cpio -o -H newc --quiet) >cd/initrd

# The kernel is unpacked, never installed.
if [ ! -e kernel/boot ]; then
    (cd kernel && apt-get download -qq "$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.* Depends: //p')" 2>/dev/null)
    dpkg -x kernel/*.deb kernel
fi
cp kernel/boot/vmlinuz* cd/linux
cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 cd/
# Bochs 2.7 has the compact form of XSAVE wrong, its size and its header: the kernel is kept from it here, the dynamic
# linker by LD_BIND_NOW in init.
cat >cd/isolinux.cfg <<end
default linux
label linux
    linux /linux
    initrd /initrd
    append console=ttyS0 quiet loglevel=1 mitigations=off nokaslr nosmp tsc=reliable lpj=1000000 clearcpuid=xsavec,xsaves
end
xorriso -as mkisofs -quiet -o boot.iso -b isolinux.bin -c boot.cat -no-emul-boot -boot-load-size 4 -boot-info-table cd \
    2>/dev/null
cat >bochsrc <<end
display_library: term
cpu: model=corei7_skylake_x, count=1, ips=100000000, reset_on_triple_fault=0, ignore_bad_msrs=1
megs: 1024
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0-master: type=cdrom, path=boot.iso, status=inserted
boot: cdrom
clock: sync=none
com1: enabled=1, mode=file, dev=serial.txt
sound: waveoutdrv=dummy
speaker: enabled=0
log: bochs.log
panic: action=fatal
error: action=ignore
info: action=ignore
end
echo continue >go # Debian's Bochs starts in its debugger

: >serial.txt
TERM=vt100 bochs -q -f bochsrc -rc go </dev/null >bochs.out 2>&1 &
bochs=$!
trap 'kill -KILL $bochs 2>/dev/null || true' EXIT # it does not hear TERM

# Seconds are ours: the emulated clock counts instructions.
echo "| test | verdict | seconds |"
echo "|---|---|---|"
passed=0 flags=""
while IFS=$' \r' read -r mark test code; do
    case $mark in
    @flags) flags="$test $code" ;;
    @begin) begun=$SECONDS ;;
    @end)
        if [ "$code" = 0 ]; then verdict=ok passed=$((passed + 1)); else verdict="failed ($code)"; fi
        echo "| $test | $verdict | $((SECONDS - begun)) |" ;;
    esac
done < <(tail -n +1 -f --pid=$bochs serial.txt)
echo
echo "$passed of ${#tests[@]} passed in $SECONDS s; the processor said: ${flags:-nothing}"
# A kernel that does not like the emulated XSAVE goes on without AVX: every test would pass, on the least set.
[ "$passed" = ${#tests[@]} ] && [[ $flags == *avx512f*avx512dq*avx512bw*avx512vl* ]] && exit 0
grep -a "ERROR\|FAILED\|traps" serial.txt || true
exit 1
