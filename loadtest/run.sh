#!/usr/bin/env bash
# Runs load tests (`make load`): one table on stdout, a JSON, an HTML and a log for each in bin/load, and the audit of the data
# at the end. Usage: run.sh [SCENARIO...], by default all of them; every LOAD_ variable reaches the scenarios.
#
# With CARVE_SERVER (and CARVE_API_KEY) it works on the server there, which must not limit the rate of this caller; otherwise
# it starts one with a database of its own, in a directory that is removed at the end, or on the empty PostgreSQL or CockroachDB
# database at LOAD_DATABASE_URL.
# Exit code 0: every threshold holds and the audit is clean. 1: not so. 2: it could not be run.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly all=(claim-throughput ipv6-claim-throughput class-claim-throughput hot-pool pool-exhaustion hierarchy read-latency
  list-storm mixed multi-tenant batch fill soak)
export LOAD_OUT="${LOAD_OUT:-bin/load}"
# k6 reports its use, and looks for extensions, unless it is told not to.
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

# start brings up a server of our own and waits for the line that says where it listens.
start() {
  local line
  dir=$(mktemp -d)
  mkfifo "$dir/stdout"
  # Variables that would lead it elsewhere are not for this one, and neither is a key. All load comes from one caller, who
  # would be stopped by the limits that are meant for one.
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
      # Nothing is taken away before the audit has seen it.
      export LOAD_KEEP="${LOAD_KEEP:-1}"
      return
    fi
  done
  tail -n 5 "$LOAD_OUT/server.log" >&2
  fail 'the server did not start'
}

# stop ends our server, waits until it has closed its database, and removes both.
stop() {
  kill "$pid" 2>/dev/null || true
  wait "$pid" || true
  rm -rf "$dir"
}

failed=()
# scenario runs one; its lines of the table are all that it says. k6: 99 is a threshold that fails.
scenario() {
  local label=$1 file=$2 code=0
  LOAD_LABEL=$label bin/k6 run --quiet --no-color "loadtest/$file.js" 2>"$LOAD_OUT/$label.log" || code=$?
  [ "$code" -eq 0 ] && return
  # 105: somebody has interrupted it, and means all of this.
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
