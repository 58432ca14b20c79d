// Package chart holds the tests of helm/carve that need no cluster: what it renders, what it refuses, and whether that is what Kubernetes
// and the server take. The tests in install put it into a real API server. Both run the helm binary that `make bin/helm` builds.
package chart
