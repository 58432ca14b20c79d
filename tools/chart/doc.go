// Package chart tests helm/carve without a cluster. It checks the rendered objects and the refused values. It also checks that the Kubernetes schemas
// and the server's flags accept the result. The tests in the package install use a real API server. Both packages run the helm binary that `make
// bin/helm` builds.
package chart
