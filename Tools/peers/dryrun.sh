#!/usr/bin/env bash
# dryrun.sh OUTDIR "controllers.py options" "peripheral options" "central options"   (Bumble's controllers)
# BTVIRT=1 dryrun.sh ...                       the same over btvirt's LE socket
# CONTROLLERS=PROGRAM dryrun.sh ...            the same over a program that is called as controllers.py is
# Bumble as host on both sides: shows that the peers work, before any of our own code is blamed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
peers=$(cd "${PEERS_DIR:-$here/../../.cache/peers}" && pwd) || { echo "run Tools/install peers" >&2; exit 1; }
py=$peers/venv/bin/python
out=$1; mkdir -p "$out"; d=$(mktemp -d); C= ; B=
cleanup() { for p in ${P:-} ${C:-} ${B:-}; do kill -TERM "$p" 2>/dev/null && wait "$p" 2>/dev/null; done; rm -rf "$d"; }
trap cleanup EXIT
waitfor() { for _ in $(seq 200); do grep -q "$1" "$2" 2>/dev/null && return 0; sleep .05; done; echo "no $1 in $2" >&2; return 1; }
if [ -n "${BTVIRT:-}" ]; then
  # btvirt's socket names are fixed, and a second btvirt takes them over: move ours away at once.
  exec 9> /tmp/bt-server.lock; flock 9; rm -f /tmp/bt-server-*
  LD_PRELOAD=$peers/algshim.so "$peers/btroot/usr/bin/btvirt" -s > "$out/btvirt.log" 2>&1 9>&- & B=$!
  for _ in $(seq 200); do [ -S /tmp/bt-server-mon ] && break; sleep .02; done; sleep .02
  mv /tmp/bt-server-* "$d"/; exec 9>&-
  A0=unix:$d/bt-server-le; A1=$A0
else
  ${CONTROLLERS:-"$py" "$here/controllers.py"} "unix:$d/hci0" "unix:$d/hci1" $2 > "$out/controllers.out" 2> "$out/controllers.err" & C=$!
  waitfor READY "$out/controllers.out" || exit 1
  A0=unix:$d/hci0; A1=unix:$d/hci1
fi
"$py" "$here/peer_peripheral.py" $A1 $3 > "$out/peripheral.jsonl" 2> "$out/peripheral.err" & P=$!
waitfor '"ready"' "$out/peripheral.jsonl" || { cat "$out/peripheral.err"; exit 1; }
"$py" "$here/peer_central.py" $A0 $4 -o "$out/central.json" 2> "$out/central.err"; rc=$?
sleep .2
echo "central rc=$rc"
exit $rc
