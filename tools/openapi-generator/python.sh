#!/usr/bin/env bash
# Makes the Python client of docs/clients.md with openapi-generator, compiles it, and runs its quick start against a server: python.sh SERVER. Needs
# Java, and Python 3 with the packages of the generated requirements.txt.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
server=$1
jar=tools/openapi-generator/node_modules/@openapitools/openapi-generator-cli/bin/openapi-generator.jar
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

java -jar "$jar" generate -i openapi.yaml -g python -o "$out" --additional-properties=packageName=carve_ipam >"$out.log" 2>&1 ||
  { tail -20 "$out.log" >&2; rm -f "$out.log"; exit 1; }
rm -f "$out.log"
python3 -m compileall -q "$out/carve_ipam"
PYTHONPATH=$out clients/typescript/test/with-server.sh "$server" python3 examples/clients/python/quickstart.py | tee "$out/said"
# The page contains the quick starts' output once.
diff -u <(sed -n '/^web: /,/^```/p' docs/clients.md | sed '/^```/,$d') "$out/said"
