#!/usr/bin/env bash
# Runs load tests (`make load`). It prints one table, writes a JSON, an HTML and a log for each test into bin/load, and audits the data at the end.
# Usage: run.sh [SCENARIO...], by default all of them. The scenarios get every LOAD_ variable.
#
# With CARVE_SERVER (and CARVE_API_KEY) it uses the server there, which must not limit this caller's rate. Otherwise it starts a server with its own
# database, in a directory that it removes at the end, or on the empty PostgreSQL or CockroachDB database at LOAD_DATABASE_URL.
# Exit codes: 0: every threshold holds and the audit finds nothing. 1: a threshold or the audit failed. 2: the tests could not run.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly all=(claim-throughput ipv6-claim-throughput class-claim-throughput hot-pool pool-exhaustion hierarchy read-latency
  list-storm mixed multi-tenant batch fill soak)
export LOAD_OUT="${LOAD_OUT:-bin/load}"
# k6 reports its use and looks for extensions unless these variables disable both.
export K6_NO_USAGE_REPORT=true K6_AUTO_EXTENSION_RESOLUTION=false

fail() {
  printf 'load: %s\n' "$*" >&2
  exit 2
}

for program in k6 server ipamctl; do
  [ -x "bin/$program" ] || fail "there is no bin/$program: run make build bin/k6"
done
scenarios=("$@")
[ $# -gt 0 ] || scenarios=("${all[@]}")
for scenario in "${scenarios[@]}"; do
  [ -f "loadtest/$scenario.js" ] || fail "there is no scenario $scenario; there are ${all[*]}"
done
mkdir -p "$LOAD_OUT"

# start starts our own server and waits for the line with its address.
start() {
  local line
  dir=$(mktemp -d)
  mkfifo "$dir/stdout"
  # This server must ignore variables that would direct it elsewhere, and a key. All load comes from one caller, which the limits for one caller would
  # stop.
  unset CARVE_DATABASE_URL CARVE_EMBEDDED CARVE_API_KEY
  local database=(--data-dir="$dir/data")
  if [ -n "${LOAD_DATABASE_URL:-}" ]; then
    database=(--database-url="$LOAD_DATABASE_URL")
    bin/ipamctl migrate "${database[@]}" >"$LOAD_OUT/migrate.log" || fail "the database at LOAD_DATABASE_URL cannot be set up"
  fi
  bin/server --auth=dev --listen=127.0.0.1:0 "${database[@]}" --rate-limit-reads=0 --rate-limit-writes=0 \
    >"$dir/stdout" 2>"$LOAD_OUT/server.log" &
  pid=$!
  trap stop EXIT
  exec 3<"$dir/stdout"
  while read -r line <&3; do
    if [[ $line == "listening on "* ]]; then
      export CARVE_SERVER="http://${line#listening on }"
      if [ -n "${LOAD_DATABASE_URL:-}" ]; then export CARVE_DATABASE_URL=$LOAD_DATABASE_URL; else export CARVE_DATA_DIR="$dir/data"; fi
      # Keep everything until the audit has checked it.
      export LOAD_KEEP="${LOAD_KEEP:-1}"
      return
    fi
  done
  tail -n 5 "$LOAD_OUT/server.log" >&2
  fail 'the server did not start'
}

# stop stops our server, waits until it has closed its database, and removes both.
stop() {
  kill "$pid" 2>/dev/null || true
  wait "$pid" || true
  rm -rf "$dir"
}

failed=()
# scenario runs one scenario, which only prints its lines of the table. k6's exit code 99 means a failed threshold.
scenario() {
  local label=$1 file=$2 code=0
  LOAD_LABEL=$label bin/k6 run --quiet --no-color "loadtest/$file.js" 2>"$LOAD_OUT/$label.log" || code=$?
  [ "$code" -eq 0 ] && return
  # 105: the user has interrupted it, and wants to stop the whole run.
  [ "$code" -ne 105 ] || exit 130
  failed+=("$label")
  if [ "$code" -ne 99 ]; then
    printf '%s: k6 ended with %d\n' "$label" "$code"
  fi
  sed -e '/have been crossed/d' -e 's/^/    /' "$LOAD_OUT/$label.log" | cut -c 1-400 | tail -n 3 >&2
}

[ -n "${CARVE_SERVER:-}" ] || start
printf '%s, %s profile, %s cores\n\n' "$CARVE_SERVER" "${LOAD_PROFILE:-full}" "$(nproc)"
printf '%-26s  %-10s  %11s  %9s  %9s  %9s  %7s  %s\n' scenario operation 'per second' 'p50 ms' 'p95 ms' 'p99 ms' errors thresholds
for scenario in "${scenarios[@]}"; do
  if [ "$scenario" = multi-tenant ] && [ -z "${LOAD_PROJECTS:-}" ]; then
    for projects in 100 1000; do
      LOAD_PROJECTS=$projects scenario "multi-tenant-$projects" multi-tenant
    done
  else
    scenario "$scenario" "$scenario"
  fi
done

printf '\n'
if [ -n "${CARVE_DATABASE_URL:-}${CARVE_DATA_DIR:-}" ]; then
  bin/ipamctl audit || failed+=(audit)
else
  echo 'Not audited: give CARVE_DATABASE_URL, or CARVE_DATA_DIR of a server on this machine.'
fi
if [ ${#failed[@]} -gt 0 ]; then
  printf '\nload: FAILED: %s (see %s)\n' "${failed[*]}" "$LOAD_OUT" >&2
  exit 1
fi
