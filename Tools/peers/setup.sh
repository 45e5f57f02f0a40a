#!/usr/bin/env bash
# setup.sh [DIR]: install the Bluetooth test peers into DIR (about 15 s, 120 MB), once.
#   DIR/venv         Bumble, pytest and what the tests of Tests/System need, at the versions in requirements.txt
#   DIR/btroot       BlueZ's btvirt, unpacked from Debian's packages, not installed
#   DIR/algshim.so   stands in for AF_ALG where the kernel has none (btvirt's LE needs it)
# DIR is $PEERS_DIR, or .cache/peers in this repository.
# Needs: python3 >= 3.11 with venv, a C compiler, libcrypto.so.3, apt-get for btvirt.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-${PEERS_DIR:-$here/../../.cache/peers}}; mkdir -p "$dir"; dir=$(cd "$dir" && pwd)
exec 9>"$dir/.lock"; flock 9
stamp=$(cat "$here/requirements.txt" "$here/algshim.c" "$0" | sha256sum | cut -c1-16)
[ "$(cat "$dir/.stamp" 2>/dev/null || true)" = "$stamp" ] && { echo "peers: up to date in $dir"; exit 0; }

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "peers: need Python 3.11 or later" >&2; exit 1; }
[ -x "$dir/venv/bin/pip" ] || { rm -rf "$dir/venv"; python3 -m venv "$dir/venv"; }
"$dir/venv/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt"
"$dir/venv/bin/python" -c 'import bumble.device'

command -v apt-get >/dev/null || { echo "peers: no apt-get: btvirt (package bluez-test-tools) must come from elsewhere" >&2; exit 1; }
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
(cd "$d" && { apt-get download -qq bluez-test-tools 2>/dev/null ||
              { apt-get update -qq && apt-get download -qq bluez-test-tools; }; })
rm -rf "$dir/btroot"
for f in "$d"/*.deb; do dpkg -x "$f" "$dir/btroot"; done
${CC:-cc} -O2 -shared -fPIC -o "$dir/algshim.so" "$here/algshim.c" -ldl -l:libcrypto.so.3
"$dir/btroot/usr/bin/btvirt" --version >/dev/null
echo "$stamp" > "$dir/.stamp"
echo "peers: ready in $dir (bumble $("$dir/venv/bin/python" -c 'import importlib.metadata as m; print(m.version("bumble"))'))"
