// Command kube-apiserver runs Kubernetes' API server, like the original command of Kubernetes. `go install` cannot install the original command by
// version, because its go.mod replaces modules. See this folder's go.mod.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // as in upstream's command
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }
