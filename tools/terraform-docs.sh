#!/usr/bin/env bash
# Writes terraform/docs from the provider's schema and examples, as registries show them. With "check" it reports files that are out of date.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

go -C terraform build -o "$work/bin/terraform-provider-carve" .
mkdir "$work/schema" "$work/out"
cat >"$work/rc" <<EOF
disable_checkpoint = true
provider_installation {
  dev_overrides { "carve-ipam/carve" = "$work/bin" }
}
EOF
cp terraform/examples/provider/provider.tf "$work/schema/"
# The generator looks for the provider by its short name.
TF_CLI_CONFIG_FILE=$work/rc terraform -chdir="$work/schema" providers schema -json | sed 's|registry.terraform.io/carve-ipam/carve|carve|' >"$work/schema.json"
cp -r terraform/examples "$work/out/"
go tool -modfile=tools/tfplugindocs.mod tfplugindocs generate --providers-schema "$work/schema.json" --provider-name carve \
  --rendered-provider-name Carve --provider-dir "$work/out" >"$work/said" || { cat "$work/said"; exit 1; }
if [ "${1:-}" = check ]; then
  diff -r terraform/docs "$work/out/docs" || { echo "terraform/docs is not what its source makes: make terraform-docs" >&2; exit 1; }
else
  rm -rf terraform/docs
  cp -r "$work/out/docs" terraform/docs
fi
