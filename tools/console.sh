#!/usr/bin/env bash
# Builds the web console into internal/console/dist, from where the server embeds it, unless it is up to date. Without npm, or if npm gets no
# packages, the server is built without its console; `console.sh required` fails in that case.
set -euo pipefail
cd "$(dirname "$0")/.."

without() {
  echo "$1: the server is built without its console" >&2
  [[ -z $required ]]
  exit
}
required=${1:-}
built=console/node_modules/.built
[[ -f console/package.json ]] || exit 0
command -v npm >/dev/null || without 'there is no npm'
if [[ -f $built && -f internal/console/dist/index.html && -z $(find console openapi.yaml -name node_modules -prune -o -type f -newer "$built" -print -quit) ]]; then
  exit 0
fi
if [[ ! console/node_modules/.package-lock.json -nt console/package-lock.json ]]; then
  npm --prefix console ci --ignore-scripts --no-audit --no-fund --loglevel=error || without 'npm gets no packages'
  touch console/node_modules/.package-lock.json
fi
said=$(npm --prefix console run --silent build 2>&1) || {
  echo "$said" >&2
  exit 1
}
touch "$built"
