#!/usr/bin/env bash
# The figures of the PKCS#11 module (docs/notebook/pkcs11.md): RSA signatures per CPU second of it, SoftHSM and kryoptic, in turns.
#
#   pkcs11.sh FOLDER [ROUNDS]
#
# Needs `cargo build --release -p modmill-pkcs11 --example load` and Debian's softhsm2. `pkcs11.sh kryoptic FOLDER` builds kryoptic
# before, from crates.io, which needs Debian's libssl-dev and libclang-dev; without it the module is left out. FOLDER holds the
# tokens. Everything runs on one core: the first that this shell may use.
# Slices are short because the speed of a shared host changes within seconds, and a ratio is of neighbours.
set -euo pipefail
here="$(cd "$(dirname "$0")/../.." && pwd)"
target="${CARGO_TARGET_DIR:-$here/target}"
kryoptic_version=1.5.4

if [ "$1" = kryoptic ]; then
    mkdir -p "$2"
    cd "$2"
    printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2024"\n[dependencies]\nkryoptic = "=%s"\n[workspace]\n' "$kryoptic_version" > Cargo.toml
    mkdir -p src
    touch src/lib.rs
    cargo fetch
    source="$(cargo metadata --format-version 1 | python3 -c 'import json, os, sys
print(next(os.path.dirname(p["manifest_path"]) for p in json.load(sys.stdin)["packages"] if p["name"] == "kryoptic"))')"
    rm -rf kryoptic
    cp -r "$source" kryoptic
    printf '\n[workspace]\n' >> kryoptic/Cargo.toml
    (cd kryoptic && CARGO_TARGET_DIR=../build cargo build --release --no-default-features --features minimal,kryoptic-lib/dynamic)
    exit
fi

folder="$(mkdir -p "$1" && cd "$1" && pwd)"
rounds="${2:-12}"
core="$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')"
load=(taskset -c "$core" "$target/release/examples/load")
mkdir -p "$folder/softhsm" "$folder/kryoptic" "$folder/modmill"
printf '[[token]]\npath = "token.json"\n' > "$folder/modmill/config.toml"
printf 'directories.tokendir = %s\nobjectstore.backend = file\nlog.level = ERROR\n' "$folder/softhsm" > "$folder/softhsm.conf"
export MODMILL_PKCS11_CONFIG="$folder/modmill/config.toml" SOFTHSM2_CONF="$folder/softhsm.conf"
export KRYOPTIC_CONF="$folder/kryoptic/token.sql"

modules=("modmill $target/release/libmodmill_pkcs11.so")
softhsm=/usr/lib/softhsm/libsofthsm2.so
kryoptic="${KRYOPTIC:-$folder/build/release/libkryoptic_pkcs11.so}"
if [ -e "$softhsm" ]; then modules+=("softhsm $softhsm"); else echo "LEFT OUT: no SoftHSM (apt-get install softhsm2)"; fi
if [ -e "$kryoptic" ]; then modules+=("kryoptic $kryoptic"); else echo "LEFT OUT: no kryoptic (pkcs11.sh kryoptic FOLDER)"; fi

for bits in 2048 4096; do
    for threads in 1 8 64; do
        for ((round = 1; round <= rounds; round++)); do
            for module in "${modules[@]}"; do
                printf '%-9s ' "${module%% *}"
                "${load[@]}" "${module#* }" "$threads" 0.7 "$bits"
            done
        done
    done
done | tee "$folder/rounds"

python3 - "$folder/rounds" << 'END'
"""The least, the median and the most of the signatures per CPU second, and of the ratios within a round."""
import sys
from statistics import median

rates = {}
for line in open(sys.argv[1]):
    module, bits, _, threads, _, rate = line.split()[:6]
    rates.setdefault((bits, threads), {}).setdefault(module, []).append(float(rate))
for (bits, threads), modules in rates.items():
    print(f"RSA-{bits}, {threads} threads")
    for module, found in modules.items():
        ratios = [ours / theirs for ours, theirs in zip(modules["modmill"], found)]
        least, middle, most = (f"{of(found):.0f}" for of in (min, median, max))
        print(f"  {module:9} {least} - {middle} - {most}, ratio {min(ratios):.1f} - {median(ratios):.1f} - {max(ratios):.1f}")
END
