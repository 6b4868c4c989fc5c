#!/usr/bin/env bash
# Measures NVIDIA's CGBN in kernels of this machine's GPU, to compare `modmill bench --backend cuda` with. Needs nvcc, and CGBN's sources
# (https://github.com/NVlabs/CGBN, commit 6e6fdc1).
#   cgbn.sh CGBN [BITS...]    for each length and each number of threads that CGBN takes for it, a line for each operation: operations a second
set -euo pipefail
sources="$(realpath "${1:?the folder of CGBN, https://github.com/NVlabs/CGBN}")"
[ -f "$sources/include/cgbn/cgbn.h" ] || { echo "$sources: no include/cgbn/cgbn.h in it" >&2; exit 2; }
shift
[ $# -gt 0 ] || set -- 256 512 1024 2048 4096
program="$(dirname "$(realpath "$0")")/cgbn.cu"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

# CGBN divides where a thread has no more limbs of 32 bits than a group has threads.
programs=()
for bits in "$@"; do
    for threads in 4 8 16 32; do
        limbs=$((bits / 32 / threads))
        if [ "$limbs" -ge 2 ] && [ "$limbs" -le "$threads" ]; then
            nvcc -O3 -arch=native -w -I "$sources/include" -DWIDTH="$bits" -DGROUP="$threads" -o "$folder/$bits-$threads" "$program" &
            programs+=("$folder/$bits-$threads")
        fi
    done
done
wait
printf "%-14s %6s %7s %12s\n" operation bits threads operations/s
for program in "${programs[@]}"; do
    "$program"
done
