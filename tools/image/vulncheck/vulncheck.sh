#!/usr/bin/env bash
# Checks the code that Carve calls against the Go project's vulnerability database, with govulncheck. Arguments are packages and flags of govulncheck;
# default: all packages in the module of the working directory.
#
#   GOVULNDB   another database: a mirror's address, or file:///path of a copy (docs/evidence.md)
#
# Exit codes: 0: no known vulnerability is called; 3: one is; 4: nothing was checked, because the database is unavailable; 1: any other error.
set -uo pipefail
modfile=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/govulncheck.mod

not_checked() {
  echo "NOT CHECKED: the database of vulnerabilities (${GOVULNDB:-https://vuln.go.dev}) $1. This says nothing about Carve." >&2
  echo 'Run it where the database can be reached, or name a copy: GOVULNDB=file:///path/to/vulndb make vulncheck' >&2
  exit 4
}

args=()
[ -z "${GOVULNDB:-}" ] || args+=(-db "$GOVULNDB")
[ $# -gt 0 ] || set -- ./...

# govulncheck accepts any directory as a database, and an empty one reports no vulnerabilities.
case ${GOVULNDB:-} in file://*)
  copy=${GOVULNDB#file://}
  grep -q '"path"' "$copy/index/modules.json" 2>/dev/null || not_checked 'has no modules in its index/modules.json'
  ;;
esac

said=$(mktemp) || exit 1
trap 'rm -f "$said"' EXIT
go tool -modfile="$modfile" govulncheck "${args[@]}" "$@" 2>"$said"
code=$?
cat "$said" >&2
case $code in 0 | 3) exit $code ;; esac

# govulncheck exits with 1 for all other errors; its last step distinguishes them.
if grep -Eq '^(govulncheck: )?(creating client|fetching vulnerabilities):' "$said"; then
  not_checked 'cannot be had from here'
fi
exit 1
