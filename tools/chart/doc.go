// Package chart tests helm/carve without a cluster: the rendered objects, the refused values, and whether Kubernetes and the server accept the
// result. The tests in install use a real API server. Both run the helm binary that `make bin/helm` builds.
package chart
