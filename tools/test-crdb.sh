#!/usr/bin/env bash
# Runs the tests on CockroachDB instead of PostgreSQL. `test-crdb.sh` uses the server at CRDB_URL, or starts the cockroach binary on PATH.
# `test-crdb.sh cluster` uses three nodes in three regions, started with COCKROACH_BIN or the cockroach binary on PATH. go test gets TESTFLAGS.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
cockroach=${COCKROACH_BIN:-cockroach}

refuse() {
  printf '%s\nNothing was tested. `make test` runs the same tests on PostgreSQL.\n' "$1" >&2
  exit 2
}

# run LIMIT PRODUCT LAB: runs the tests of these packages of the product, and of these packages of the laboratory.
run() {
  local code=0
  # shellcheck disable=SC2086 # several flags, and several packages
  go test -count=1 -timeout="$1" ${TESTFLAGS:-} $2 || code=1
  # shellcheck disable=SC2086
  go -C lab test -count=1 -timeout="$1" ${TESTFLAGS:-} $3 || code=1
  return $code
}

# quiet turns off work of the cluster that competes with the tests for a small machine: the tests use every processor on purpose.
quiet() {
  local setting
  for setting in admission.kv.enabled admission.sql_kv_response.enabled admission.sql_sql_response.enabled sql.stats.automatic_collection.enabled; do
    "$cockroach" sql --url="$CRDB_URL" --execute="SET CLUSTER SETTING $setting = false" >/dev/null || return
  done
}

case ${1:-} in
'')
  [ -n "${CRDB_URL:-}" ] || command -v cockroach >/dev/null ||
    refuse 'make test-crdb needs a CockroachDB: give CRDB_URL=postgresql://..., or put a cockroach binary on PATH.'
  export CARVE_TEST_ENGINE=cockroach CRDB_URL
  run 30m ./internal/... ./...
  ;;
cluster)
  command -v "$cockroach" >/dev/null ||
    refuse 'make test-crdb-cluster needs a CockroachDB: give COCKROACH_BIN=path/to/cockroach, or put a cockroach binary on PATH.'
  # The first node is in the tests' region and runs all tests. Servers that the tests start refuse the other nodes, which are in other regions: those
  # run the tests of the store and of the use cases.
  bin/faults cluster -cockroach="$cockroach" -first='tools/test-crdb.sh first' -others='tools/test-crdb.sh other'
  ;;
first) quiet && TESTFLAGS="-p=1 ${TESTFLAGS:-}" run 60m ./internal/... ./... ;;
other) TESTFLAGS="-p=1 ${TESTFLAGS:-}" run 60m './internal/crdb/... ./internal/alloc/...' ./consistency ;;
*) refuse "what is $1?" ;;
esac
