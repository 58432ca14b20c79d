#!/usr/bin/env bash
# Makes the checks of a release that take a few minutes: builds this machine's archive and packages from two directories and compares them, runs the
# programs from the archive, and installs the packages on a copy of this Debian. test.sh COMMIT
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
platform=linux/$(go env GOARCH)
build() { go -C "$1/tools/release" run . build -repo "$1" -out "$2" -only "$platform" -commit "$3"; }

build "$root" "$work/one" "${1:-}"
mkdir "$work/elsewhere"
{ git ls-files -z; find internal/console/dist -type f -print0; } | tar -c --null --ignore-failed-read -T - | tar -x -C "$work/elsewhere"
build "$work/elsewhere" "$work/two" "${1:-}"
go -C tools/release run . verify "$work/one" "$work/two"

[ "$(uname -s)" = Linux ] || exit 0
tar -xzf "$work"/one/carve_*.tar.gz -C "$work"
"$work"/carve_*/carve-server --version | grep -F " $(cat VERSION), "
"$work"/carve_*/ipamctl version --client | grep -F " $(cat VERSION) "
tools/release/install-test.sh "$work/one" || [ $? = 3 ]
