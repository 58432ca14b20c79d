#!/usr/bin/env bash
# Lints the Go code of this repository with one configuration: of every module, or of the modules at and below the given paths. `lint.sh .` lints only
# the module at the root.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
code=0
root=$PWD

files=$(find . \( -name node_modules -o -path ./bin \) -prune -o -name '*.go' -print0 | xargs -0 gofmt -l)
[ -z "$files" ] || { echo "not formatted (make fmt): $files" >&2; code=1; }
linter=$(go tool -modfile=tools/golangci-lint.mod -n golangci-lint) && "$linter" config verify || exit 1
case ${1:-} in
'') where=(.) ;;
.) where=(./go.mod) ;;
*) where=("${@/#/./}") ;;
esac
for module in $(find "${where[@]}" \( -name node_modules -o -name testdata -o -path ./bin -o -path ./tools/kubeapi \) -prune -o -name go.mod -print); do
  echo "golangci-lint: $module"
  (
    cd "$(dirname "$module")" || exit 1
    # Linters that need types would first analyse all of Kubernetes and of CockroachDB's grammar, which takes minutes for a few tests.
    case $module in ./tools/chart/go.mod | ./tools/sqlcheck/go.mod) fast=--fast-only ;; *) fast= ;; esac
    "$linter" run $fast --config="$root/.golangci.yml" ./...
  ) || code=1
done
exit $code
