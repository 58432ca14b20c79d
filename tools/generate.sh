#!/usr/bin/env bash
# Writes the files generated from openapi.yaml (`generate.sh types`) and the vendored Swagger UI (`generate.sh swagger-ui`), or checks that all of
# them, and the module files, match their sources (`generate.sh check`). The npm packages must be installed.
set -euo pipefail
cd "$(dirname "$0")/.."

# Each generated file and its configuration.
generated=(
  internal/api/gen/api.gen.go:internal/api/gen/server.cfg.yaml
  internal/api/gen/document.gen.go:internal/api/gen/document.cfg.yaml
  client/client.gen.go:client/client.cfg.yaml
)
# The client has its own overlay in addition to the order of members, and the generator takes only one.
mkdir -p bin
{ cat tools/openapi/order.yaml; sed '1,/^actions:/d' client/overlay.yaml; } >bin/client-overlay.yaml
swagger=tools/swagger-ui/node_modules/swagger-ui-dist
swagger_files=(LICENSE NOTICE favicon-32x32.png swagger-ui-bundle.js swagger-ui-bundle.js.LICENSE.txt swagger-ui.css)
types() { go tool -modfile=tools/oapi-codegen.mod oapi-codegen "$@" openapi.yaml; }
# quiet FILE: keeps the documentation of the Go client in its hand-written files. The generator puts a sentence of its own before it, and exports a
# function for the request of each operation, which go doc would list first.
quiet() {
  sed -E -i -e '/^\/\/ Package client provides primitives/,/^\/\/$/d' -e 's/^package client$/\n&/' \
    -e 's/\bNew([A-Z][A-Za-z]*Request(With[A-Za-z]*Body)?)\b/new\1/g' "$1"
}
# objects FOLDER FOLDER: writes the schemas of the controller's objects to the first, and their copying code to the second.
objects() { (cd controller && go tool -modfile=../tools/controller-gen.mod controller-gen object crd paths=./api/... output:crd:dir="$1" output:object:dir="$2"); }
typescript() { npm --prefix clients/typescript run --silent "$1"; }

case $1 in
types)
  for each in "${generated[@]}"; do
    echo "${each%%:*}"
    types -config "${each##*:}"
  done
  quiet client/client.gen.go
  echo controller/config/crd
  objects config/crd api/v1alpha1
  install -m 644 controller/config/crd/*.yaml helm/carve-controller/objects/
  echo clients/typescript/src/schema.d.ts
  typescript generate >/dev/null
  ;;
swagger-ui)
  for file in "${swagger_files[@]}"; do install -m 644 "$swagger/$file" internal/api/docs/dist/; done
  ;;
check)
  fresh=$(mktemp -d)
  trap 'rm -rf "$fresh"' EXIT
  drift=0
  differs() {
    drift=1
    echo "$1 is not what its source makes: $2" >&2
  }
  for each in "${generated[@]}"; do
    sed '/^output:/d' "${each##*:}" >"$fresh/config"
    types -config "$fresh/config" -o "$fresh/generated"
    if [ "${each%%:*}" = client/client.gen.go ]; then quiet "$fresh/generated"; fi
    diff -u "${each%%:*}" "$fresh/generated" || differs "${each%%:*}" 'make generate'
  done
  objects "$fresh/crd" "$fresh/object"
  diff -ru controller/config/crd "$fresh/crd" || differs controller/config/crd 'make generate'
  diff -rq controller/config/crd helm/carve-controller/objects || differs helm/carve-controller/objects 'make generate'
  diff -u controller/api/v1alpha1/zz_generated.deepcopy.go "$fresh/object/zz_generated.deepcopy.go" || differs controller/api 'make generate'
  for file in "${swagger_files[@]}"; do cmp "internal/api/docs/dist/$file" "$swagger/$file" || differs "$file" 'make swagger-ui'; done
  typescript verify || differs clients/typescript/src/schema.d.ts 'make generate'
  for module in $(find . \( -name node_modules -o -name testdata -o -path ./bin \) -prune -o -name go.mod -print); do
    go -C "$(dirname "$module")" mod tidy -diff || differs "$module" 'go mod tidy'
  done
  exit $drift
  ;;
esac
