#!/usr/bin/env bash
# Runs a command with its own server: with-server.sh SERVER COMMAND [ARGUMENT...]
#
# SERVER is the program. It runs with an embedded PostgreSQL and keeps all data in a temporary folder. The command gets the server's address in
# CARVE_SERVER and the program in SERVER_PROGRAM. When the command ends, the script kills the server by its process id and removes the folder.
set -euo pipefail

program=$(realpath "$1")
shift
dir=$(mktemp -d)
chmod 755 "$dir" # PostgreSQL runs as another user if this one is root
finish() {
  if [ -n "${server:-}" ]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$dir"
}
trap finish EXIT

mkfifo "$dir/said"
"$program" --auth=dev --listen=127.0.0.1:0 --data-dir="$dir/data" --log-level=warn >"$dir/said" 2>"$dir/log" &
server=$!
exec 3<"$dir/said" # stays open, because the server may print more
if ! read -r -u 3 first || [[ $first != 'listening on '* ]]; then
  echo "with-server.sh: the server did not start:" >&2
  cat "$dir/log" >&2
  exit 1
fi
CARVE_SERVER="http://${first#listening on }" SERVER_PROGRAM=$program "$@"
