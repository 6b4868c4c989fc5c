#!/usr/bin/env bash
# The figures of the signing service (docs/notebook/serve.md). Server and load generator share the same cores.
#
#   serve.sh cpu FOLDER    two cores: batches and one signature at a time, a lone client, transit, latency against load, idle connections
#   serve.sh door FOLDER   two cores: the CPU time of a KMS Sign and a KMS Verify, apart from the threads that compute ("door us")
#   serve.sh gpu FOLDER    all cores and the GPU: KMS by the GPU and by the CPU alone, bulk, transit
#
# MODMILL names the program, and MODMILL_SERVER that of the server if it is another one. FOLDER holds the data of the servers, and the plot.
set -euo pipefail
kind="$1"
mkdir -p "$2"
cd "$2"
modmill="$(realpath "${MODMILL:-$(command -v modmill)}")"
server="$(realpath "${MODMILL_SERVER:-$modmill}")"
cores="taskset -c 0,1"
[ "$kind" != gpu ] || cores=""

# start NAME PORT CONFIGURATION: a server, whose process is then in pid_NAME.
start() {
    printf '%b' "$3" > "$1.toml"
    $cores "$server" serve --data "data-$1" --listen "127.0.0.1:$2" --no-tls --config "$1.toml" > "$1.out" 2> "$1.err" &
    eval "pid_$1=$!"
    until grep -q listening "$1.out"; do sleep 0.1; done
    "$modmill" serve credentials create --data "data-$1" --name load --allow kms,transit,bulk --json > "$1.json"
    until curl -sf "http://127.0.0.1:$2/ready" > /dev/null; do sleep 0.2; done
}

# load NAME PORT OPTIONS...
load() {
    local name="$1" port="$2" pid="pid_$1"
    shift 2
    printf '%-8s %-60s ' "$name" "$*"
    $cores "$modmill" load --endpoint "http://127.0.0.1:$port" --credentials "$name.json" --duration 4 --warm-up 1 --pid "${!pid}" "$@" | tail -1
}

if [ "$kind" = cpu ]; then
    $cores "$modmill" bench --bits 2048 --ops rsa_sign --seconds 1 --threads 2
    $cores "$modmill" bench --bits 2048 --ops rsa_sign --seconds 1 --threads 1 --batch 1
    start batched 4601 '[engine]\nbackend = "cpu"\n[limits]\nconnections_per_address = 20000\n'
    start single 4602 '[engine]\nbackend = "cpu"\n[batch]\nmost_items = 1\n'
    for connections in 64 256 64 256; do
        load batched 4601 --connections $connections
        load single 4602 --connections $connections
    done
    load batched 4601 --connections 1
    kill "$pid_single"
    load batched 4601 --interface transit --batch 1000 --connections 1
    # The library and the service in turns: the speed of a shared host changes within seconds.
    for round in 1 2 3 4 5 6; do
        $cores "$modmill" bench --bits 2048 --ops rsa_sign --seconds 1 --threads 2 | grep '\*  '
        load batched 4601 --interface transit --batch 1000 --connections 2
    done
    $cores "$modmill" load --endpoint http://127.0.0.1:4601 --credentials batched.json --sweep --duration 3 --warm-up 1 \
        --pid "$pid_batched" --svg latency.svg
    "$modmill" load --endpoint http://127.0.0.1:4601 --credentials batched.json --idle 10000 --pid "$pid_batched"
    kill "$pid_batched"
elif [ "$kind" = door ]; then
    $cores "$modmill" bench --bits 2048 --ops rsa_sign --seconds 1 --threads 1
    start batched 4601 '[engine]\nbackend = "cpu"\n'
    for round in 1 2 3; do
        load batched 4601 --connections 64
        load batched 4601 --connections 64 --mix verify=1
    done
    kill "$pid_batched"
else
    start gpu 4603 '[audit]\nsync = "none"\n'
    start cpu 4604 '[engine]\nbackend = "cpu"\n[audit]\nsync = "none"\n'
    for connections in 1 64 256 512 1024 1024; do
        load gpu 4603 --connections $connections --verify-every 100
        load cpu 4604 --connections $connections --verify-every 100
    done
    kill "$pid_cpu"
    load gpu 4603 --connections 1024 --rate 70000 --verify-every 100
    for connections in 1 2 4 8; do
        load gpu 4603 --interface bulk --batch 16384 --connections $connections --verify-every 1000
    done
    load gpu 4603 --interface transit --batch 10000 --connections 8 --verify-every 1000
    kill "$pid_gpu"
fi
wait
