// Package install installs helm/carve into a real Kubernetes API server, with a real etcd and a real PostgreSQL: install, test, upgrade, rollback,
// uninstall, by the helm binary.
//
// It has no kubelet, scheduler or controller manager, because none can run here. The tests simulate the parts that this chart needs:
// controllers_test.go makes pods from Jobs and Deployments, and kubelet_test.go makes processes from pods. Both read the objects from the API server
// and write status back. A container is a process that cannot leave its own folder (chroot), with the pod's user and the files of the pod's volumes.
// The image's /server and /ipamctl come from this commit. The tests do not simulate networks (a pod has a loopback address, which replaces the
// wildcard in its listen flags), NetworkPolicies, resource limits, capabilities and seccomp.
package install
