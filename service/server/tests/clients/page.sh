#!/bin/sh
# Looks at the live page in a real browser. Needs Debian's chromium.
#
#   page.sh URL        a service that has answered requests in the last minute: http://any:TOKEN@127.0.0.1:PORT/
#   page.sh            the page with made-up figures (cargo run --example page)
#
# Screenshots are kept in target/page, or in the folder that PAGE_OUT names.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
out=${PAGE_OUT:-$here/../../target/page}
mkdir -p "$out"
profile=$(mktemp -d)
server=
passed=0
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$profile"
}
trap finish EXIT

# browser WIDTH,HEIGHT ARGUMENTS...
browser() {
    size=$1
    shift
    timeout 120 "${CHROMIUM:-chromium}" --headless=new --no-sandbox --disable-gpu --hide-scrollbars \
        --user-data-dir="$profile" --virtual-time-budget=9000 --window-size="$size" "$@" 2>"$profile/messages"
}

# Asserts that the page in $dom has a line that matches.
expect() {
    if printf '%s' "$dom" | grep -q -e "$2"; then
        passed=$((passed + 1))
    else
        echo "page.sh: $1: nothing matches $2" >&2
        echo "$dom" | head -c 3000 >&2
        exit 1
    fi
}

# start ARGUMENTS...: the server with made-up figures, whose address is then in $url.
start() {
    rm -f "$profile/url"
    (cd "$here" && cargo build --quiet --example page)
    "${CARGO_TARGET_DIR:-$here/../../target}/debug/examples/page" "$@" >"$profile/url" &
    server=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        [ -s "$profile/url" ] && break
        sleep 0.5
    done
    url=$(cat "$profile/url")
}

live() {
    dom=$(browser "$1" --dump-dom "$url")
    expect "live at $1" 'data-state="live"'
    expect "rate at $1" '<b id="rate">[0-9.]*[1-9][0-9.]*\( [kMG]\)\?<em>/s</em>'
    expect "latency at $1" '<b id="p99">[0-9.]\+<em>ms</em>'
    expect "batch at $1" '<b id="batch">[0-9.]\+\( k\)\?<em>items</em>'
    expect "a curve at $1" 'class="line c-blue" d="M[0-9.]\+ [0-9.]\+L'
    expect "no alarm at $1" 'id="alarm" role="alert" hidden'
    expect "replicas at $1" '<td>[0-9]\+ \(d\|h\|min\|s\)'
}

url=${1:-}
[ -n "$url" ] || start
live 1280,900
live 390,844
browser 1280,1150 --screenshot="$out/wide.png" "$url"
browser 390,2250 --screenshot="$out/narrow.png" "$url"
browser 1280,1150 --blink-settings=preferredColorScheme=0 --screenshot="$out/dark.png" "$url"
browser 390,2250 --blink-settings=preferredColorScheme=0 --screenshot="$out/narrow-dark.png" "$url"

# A page whose figures stop says so.
if [ $# -eq 0 ]; then
    kill "$server"
    start 2
    dom=$(browser 1280,900 --dump-dom "$url")
    expect "no data" 'data-state="lost"'
    expect "the alarm" 'No data since [0-9:]\+: the service answered 503'
    kill "$server"
    start 2
    browser 1280,1150 --screenshot="$out/lost.png" "$url"
fi

for picture in wide narrow dark narrow-dark; do
    [ -s "$out/$picture.png" ] && passed=$((passed + 1))
done
echo "screenshots are in $out"
echo "$passed passed, 0 failed"
