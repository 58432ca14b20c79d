// Command kube-apiserver is Kubernetes' API server, like upstream's own command. Upstream's cannot be installed by version, because its go.mod
// replaces modules; see this folder's go.mod.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // as in upstream's command
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }
