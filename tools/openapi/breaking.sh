#!/usr/bin/env bash
# Compares the contract with the contract of a commit, or of the last release.
set -euo pipefail
cd "$(dirname "$0")/../.."
base=${1:-$(git describe --tags --match='v*' --abbrev=0 2>/dev/null || true)}
[ -n "$base" ] || { echo 'breaking: nothing has been released'; exit 0; }
mkdir -p bin
git show "$base:openapi.yaml" >bin/released.yaml
# Earlier, every operation had a response for each status of its refusals. That form was never released, so nothing is compared with it.
grep -q '^ *x-problems:' bin/released.yaml || { echo "breaking: $base is from before refusals were one response, and was not released"; exit 0; }
go tool -modfile=tools/oasdiff.mod oasdiff breaking --fail-on ERR --severity-levels tools/openapi/oasdiff-levels.txt bin/released.yaml openapi.yaml
