#!/usr/bin/env bash
# Shows Carve at work (`make demo`): loads an address plan, claims from it as three teams would, prints what came of it, and
# checks every invariant of the data at the end. Usage: demo.sh [PROJECT]
#
# With CARVE_SERVER it works on the server there; otherwise it starts one with a database of its own, in a directory that is
# removed at the end. With KEEP=1 that server runs until Ctrl-C, for a look at the console. A project is the demo's alone: to run
# it again on one server, give another name.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/bin:$PATH"
export CARVE_PROJECT="${1:-fernwood}"

for program in ipamctl server; do
  command -v "$program" >/dev/null || { echo "demo: there is no $program: run make build" >&2; exit 1; }
done

# start brings up a server of our own and waits for the line that says where it listens.
start() {
  local line
  dir=$(mktemp -d)
  mkfifo "$dir/stdout"
  # Variables that would lead it to another database are not for this one.
  env -u CARVE_DATABASE_URL -u CARVE_EMBEDDED \
    server --auth=dev --listen=127.0.0.1:0 --data-dir="$dir/data" >"$dir/stdout" 2>"$dir/log" &
  pid=$!
  trap stop EXIT
  exec 3<"$dir/stdout"
  while read -r line <&3; do
    if [[ $line == "listening on "* ]]; then
      export CARVE_SERVER="http://${line#listening on }" CARVE_DATA_DIR="$dir/data"
      unset CARVE_DATABASE_URL
      return
    fi
  done
  echo 'demo: the server did not start:' >&2
  cat "$dir/log" >&2
  exit 1
}

# stop ends our server, waits until it has closed its database, and removes both.
stop() {
  kill "$pid" 2>/dev/null || true
  wait "$pid" || true
  rm -rf "$dir"
}

if [ -z "${CARVE_SERVER:-}" ]; then
  start
fi
if ipamctl project get "$CARVE_PROJECT" -q >/dev/null 2>&1; then
  echo "demo: $CARVE_SERVER has a project $CARVE_PROJECT already: give another name, as in $0 $CARVE_PROJECT-2" >&2
  exit 1
fi

examples/teams.sh

printf '\n## Every invariant, checked in SQL\n'
if [ -n "${CARVE_DATABASE_URL:-}${CARVE_DATA_DIR:-}" ]; then
  printf '\n$ ipamctl audit\n'
  ipamctl audit
else
  printf '\nThe demo cannot audit the database of this server: give CARVE_DATABASE_URL, or CARVE_DATA_DIR of a server on this machine.\n'
fi

if [ -n "${KEEP:-}" ] && [ -n "${pid:-}" ]; then
  printf '\nThe server runs until you press Ctrl-C: %s/console/projects/%s\n' "$CARVE_SERVER" "$CARVE_PROJECT"
  wait "$pid"
fi
