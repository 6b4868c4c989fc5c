#!/usr/bin/env bash
# The figures of docs/notebook/openssl.md: OpenSSL's default provider and modmill's in turns, on one core.
#   openssl.sh speed MODULE [ROUNDS]     signatures and verifications of `openssl speed`, with 64 jobs and without
#   openssl.sh haproxy MODULE [ROUNDS]   handshakes of HAProxy for each second of its CPU time; needs haproxy and ab (apache2-utils)
#   openssl.sh nginx MODULE [ROUNDS]     handshakes of nginx with 8 workers whose key is in the signing service, and their batches; needs
#                                        nginx, ab, curl and the program MODMILL (modmill)
# BITS (2048 3072 4096) are the lengths of `speed`.
# MODULE is libmodmill_openssl.so. CORE (0) is the core that is measured, CLIENT (1) that of the clients.
set -euo pipefail
what="${1:?speed, haproxy or nginx}"
module="$(realpath "${2:?the provider, libmodmill_openssl.so}")"
# OpenSSL leaves out a module that it cannot load, and would be compared with itself.
[ -f "$module" ] || { echo "$module: no such file" >&2; exit 2; }
rounds="${3:-5}"
core="${CORE:-0}"
client="${CLIENT:-1}"
folder="$(mktemp -d)"
trap 'kill $(jobs -p) 2> /dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"

printf '%s\n' 'openssl_conf = init' '[init]' 'providers = list' 'alg_section = algorithms' \
    '[list]' 'default = default_provider' 'modmill = modmill_provider' '[default_provider]' 'activate = 1' \
    '[modmill_provider]' "module = $module" 'activate = 1' \
    '[algorithms]' 'default_properties = ?provider=modmill' > modmill.cnf
: > default.cnf
openssl version
grep -m 1 'model name' /proc/cpuinfo | sed 's/.*: //'

# The ratios of all rounds in the file $1, as a range and the one in the middle.
ratios() {
    sort -n "$1" | awk '{ r[NR] = $1 } END { printf "%.2f to %.2f, middle %.2f\n", r[1], r[NR], r[int((NR + 1) / 2)] }'
}

# Signatures and verifications in a second of CPU time, by the provider $1 with the options that follow.
speed() {
    local provider="$1"
    shift
    OPENSSL_CONF="$folder/$provider.cnf" taskset -c "$core" openssl speed -seconds 2 "$@" 2> /dev/null | awk 'END { print $(NF - 1), $NF }'
}

# Handshakes of HAProxy with the provider $1 for a second of its CPU time: $2 of them with a key of $3 bits.
handshakes() {
    cat > haproxy.cfg << CONFIG
global
    nbthread 1
    ssl-mode-async
    tune.ssl.cachesize 0
defaults
    mode http
    timeout client 30s
    timeout server 30s
    timeout connect 5s
frontend tls
    bind 127.0.0.1:24843 ssl crt $folder/site$3.pem no-tls-tickets
    http-request return status 200 content-type text/plain string ok
CONFIG
    OPENSSL_CONF="$folder/$1.cnf" MODMILL_STATISTICS="$folder/statistics" \
        taskset -c "$core" haproxy -db -f haproxy.cfg > haproxy.log 2>&1 &
    local haproxy=$!
    sleep 1
    cpu() { awk '{ print $14 + $15 }' "/proc/$haproxy/stat"; }
    ab() { taskset -c "$client" ab -q -f TLS1.2 -Z ECDHE-RSA-AES128-GCM-SHA256 -c 64 -n "$1" https://127.0.0.1:24843/; }
    ab 200 > /dev/null 2>&1
    local before after
    before="$(cpu)"
    ab "$2" > ab.log 2>&1
    after="$(cpu)"
    grep -q '^Failed requests: *0$' ab.log || { cat ab.log >&2; exit 1; }
    kill -USR1 "$haproxy"
    wait "$haproxy" || true
    echo "$2 $before $after $(getconf CLK_TCK)" | awk '{ printf "%.0f\n", $1 * $4 / ($3 - $2) }'
}

case "$what" in
speed)
    for bits in ${BITS:-2048 3072 4096}; do
        for jobs in "" "-async_jobs 64"; do
            : > sign
            : > verify
            for round in $(seq "$rounds"); do
                # shellcheck disable=SC2086
                read -r their_sign their_verify <<< "$(speed default $jobs "rsa$bits")"
                # shellcheck disable=SC2086
                read -r our_sign our_verify <<< "$(speed modmill $jobs "rsa$bits")"
                echo "rsa$bits $jobs round $round: sign $their_sign $our_sign, verify $their_verify $our_verify"
                echo "$our_sign $their_sign" | awk '{ print $1 / $2 }' >> sign
                echo "$our_verify $their_verify" | awk '{ print $1 / $2 }' >> verify
            done
            echo "RATIO rsa$bits $jobs: sign $(ratios sign); verify $(ratios verify)"
        done
    done
    ;;
haproxy)
    for bits in 2048 4096; do
        openssl req -x509 -newkey "rsa:$bits" -nodes -subj /CN=localhost -days 2 -keyout key.pem -out cert.pem 2> /dev/null
        cat cert.pem key.pem > "site$bits.pem"
        count="$([ "$bits" = 2048 ] && echo 4000 || echo 1200)"
        : > rates
        for round in $(seq "$rounds"); do
            theirs="$(handshakes default "$count" "$bits")"
            ours="$(handshakes modmill "$count" "$bits")"
            echo "rsa$bits round $round: $theirs $ours handshakes for a second of CPU time"
            echo "$ours $theirs" | awk '{ print $1 / $2 }' >> rates
        done
        echo "RATIO rsa$bits: $(ratios rates)"
    done
    cat statistics
    ;;
nginx)
    modmill="$(command -v "${MODMILL:-modmill}")"
    printf '[socket]\npath = "%s"\nmode = "0666"\n[batch]\nworkers = 1\n' "$folder/sign.sock" > service.toml
    "$modmill" serve --data data --listen 127.0.0.1:24844 --no-tls --config service.toml > service.out 2> service.err &
    until grep -qs listening service.out; do sleep 0.1; done
    "$modmill" serve credentials create --data data --name web --allow bulk,transit | sed -n 's/^token: //p' > token
    curl -sf -H "X-Vault-Token: $(cat token)" -d '{"type":"rsa-2048"}' http://127.0.0.1:24844/v1/transit/keys/web > /dev/null
    # Workers of nginx run as another user.
    chmod 755 .
    export MODMILL_SOCKET="$folder/sign.sock" MODMILL_TOKEN_FILE="$folder/token"
    OPENSSL_CONF="$folder/modmill.cnf" openssl req -new -x509 -key modmill:transit/web -subj /CN=localhost -days 2 -config /dev/null -out cert.pem
    printf -- '-----BEGIN MODMILL KEY-----\n%s\n-----END MODMILL KEY-----\n' "$(printf modmill:transit/web | base64)" > key.pem
    cat > nginx.conf << CONFIG
worker_processes 8;
pid $folder/nginx.pid;
error_log $folder/nginx.log;
env MODMILL_SOCKET;
env MODMILL_TOKEN_FILE;
env OPENSSL_CONF;
events { worker_connections 512; }
http {
    access_log off;
    ssl_session_cache off;
    ssl_session_tickets off;
    server {
        listen 127.0.0.1:24845 ssl reuseport;
        ssl_certificate $folder/cert.pem;
        ssl_certificate_key $folder/key.pem;
        location / { return 200 ok; }
    }
}
CONFIG
    OPENSSL_CONF="$folder/modmill.cnf" nginx -c "$folder/nginx.conf" -g 'daemon off;' &
    until curl -sk https://127.0.0.1:24845/ > /dev/null; do sleep 0.1; done
    # Signatures and batches of the service so far.
    batches() {
        curl -s http://127.0.0.1:24844/metrics | awk '/^modmill_batch_items_sum.*private/ { s = $2 } /^modmill_batch_items_count.*private/ { c = $2 } END { print s, c }'
    }
    for round in $(seq "$rounds"); do
        read -r signatures count <<< "$(batches)"
        ab -q -f TLS1.2 -Z ECDHE-RSA-AES128-GCM-SHA256 -c 64 -n 2000 https://127.0.0.1:24845/ > ab.log 2>&1
        grep -q '^Failed requests: *0$' ab.log || { cat ab.log >&2; exit 1; }
        read -r signatures_after count_after <<< "$(batches)"
        echo "round $round: $(awk '/Requests per second/ { print $4 }' ab.log) handshakes/s, $(echo "$signatures $count $signatures_after $count_after" | awk '{ printf "%d signatures in %d batches, %.1f in each", $3 - $1, $4 - $2, ($3 - $1) / ($4 - $2) }')"
    done
    kill "$(cat nginx.pid)"
    ;;
*)
    echo "$what: speed, haproxy or nginx" >&2
    exit 2
    ;;
esac
