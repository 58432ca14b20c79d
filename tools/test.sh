#!/usr/bin/env bash
# test.sh MODULE FLAGS... runs each test of a module once: the concurrent tests with the race detector, and the others without it, because the race
# detector makes them slow. If RACE is empty, all tests run without it.
set -uo pipefail
list=$(go run ./tools/concurrent "$1") && cd "$1" || exit 1
shift
if [ -z "${RACE:-}" ]; then
  echo 'no C compiler: the race detector does not run'
  exec go test "$@" ./...
fi
read -r names packages <<<"$list"
go test -skip="$names" "$@" ./...
status=$?
# The first run vets the code. Below, packages is a list.
# shellcheck disable=SC2086
CGO_ENABLED=1 go test -race -vet=off -run="$names" "$@" $packages || status=1
exit $status
