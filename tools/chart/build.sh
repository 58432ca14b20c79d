#!/usr/bin/env bash
# Builds the programs that test the charts and the controller: `build.sh helm` builds Helm, `build.sh kubeapi` builds etcd and kube-apiserver. It
# builds each once, and again when the pinned version changes.
set -euo pipefail
cd "$(dirname "$0")/../.."

# fresh PROGRAM MODULE: succeeds if the program exists and is no older than its sources.
fresh() { [ -x "$1" ] && [ ! "$2/go.sum" -nt "$1" ]; }

case $1 in
helm)
  fresh bin/helm tools/chart && exit
  echo 'building helm, once: about 2 minutes'
  go -C tools/chart build -ldflags='-s -w' -o ../../bin/helm helm.sh/helm/v4/cmd/helm
  touch bin/helm
  ;;
kubeapi)
  # The cache is outside of the checkout, so that the next checkout finds it.
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/carve/kubeapi-$(cat tools/kubeapi/go.mod tools/kubeapi/go.sum | sha256sum | cut -c1-16)
  version=$(awk '$1 == "k8s.io/kubernetes" { print $2 }' tools/kubeapi/go.mod)
  mkdir -p bin/kubeapi "$cache"
  for program in etcd kube-apiserver; do
    if [ ! -x "$cache/$program" ]; then
      echo "building $program, once: about 8 minutes for both"
      go -C tools/kubeapi build -p 2 -ldflags="-s -w -X k8s.io/component-base/version.gitVersion=$version" \
        -o "../../bin/kubeapi/$program" "./$program"
      install -m 755 "bin/kubeapi/$program" "$cache/$program"
    fi
    fresh "bin/kubeapi/$program" tools/kubeapi || install -m 755 "$cache/$program" "bin/kubeapi/$program"
  done
  ;;
*)
  echo "what is $1?" >&2
  exit 2
  ;;
esac
