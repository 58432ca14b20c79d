#!/usr/bin/env bash
# Makes clients from openapi.yaml with the generators of docs/clients.md, compiles them, and lets each create a project and handle a refusal: try.sh
# SERVER. The npm packages must be installed. Prints the number of lines of each client.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD server=$(realpath "$1")
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cp -R tools/generators/testdata/. "$here"
ln -s "$root/tools/generators/node_modules" "$here/node_modules"
npm=$here/node_modules/.bin

# quietly COMMAND: shows the output of a command only if it fails.
quietly() { "$@" >"$here/said" 2>&1 || { cat "$here/said" >&2; return 1; }; }
lines() { printf '%-24s %7d lines\n' "$1" "$(find "$2" -type f \( -name '*.go' -o -name '*.ts' \) -exec cat {} + | wc -l)"; }

cd "$here/typescript"
quietly "$npm/openapi-typescript" "$root/openapi.yaml" -o openapi-typescript/api.ts
CONTRACT=$root/openapi.yaml quietly "$npm/openapi-ts" --silent
quietly "$npm/orval" --input "$root/openapi.yaml" --output orval/api.ts --client fetch
quietly "$npm/swagger-typescript-api" generate -p "$root/openapi.yaml" -o swagger-typescript-api -n api.ts --silent
typescript=(openapi-typescript openapi-ts orval swagger-typescript-api)
for each in "${typescript[@]}"; do lines "$each" "$each"; done
"$npm/tsc"

cd "$here/go"
quietly go tool ogen -target ogen/api -package api "$root/openapi.yaml"
mkdir oapi-codegen/api
(cd "$root" && go tool -modfile=tools/oapi-codegen.mod oapi-codegen -generate types,client -package api -o "$here/go/oapi-codegen/api/api.gen.go" openapi.yaml)
for each in ogen oapi-codegen; do
  lines "$each" "$each/api"
  go build -o "$here/$each" "./$each"
done

cat >"$here/calls" <<'CALLS'
set -euo pipefail
for each in "$@"; do
  case $each in *.js) run=(node --input-type=module -e "await import('$each')") ;; *) run=("$each") ;; esac
  name=$(basename "$each" .js)
  said=$("${run[@]}")
  [ "$said" = "$name"$'\n'not_found ] || { echo "$name says: $said" >&2; exit 1; }
  echo "$name made a project, and was refused with not_found"
done
CALLS
built=("${typescript[@]/#/$here/typescript/built/}")
built=("${built[@]/%/.js}")
"$root/clients/typescript/test/with-server.sh" "$server" bash "$here/calls" "$here/ogen" "$here/oapi-codegen" "${built[@]}" </dev/null
