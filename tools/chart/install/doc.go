// Package install tests helm/carve with a real Kubernetes API server, a real etcd and a real PostgreSQL. It runs the helm commands install, test,
// upgrade, rollback and uninstall.
//
// It has no kubelet, scheduler or controller manager, because none of them can run here. The tests simulate the parts that this chart needs.
// controllers_test.go makes pods from Jobs and Deployments. kubelet_test.go makes processes from pods. Both read the objects from the API server and
// write status back. A container is a process that cannot leave its own folder (chroot), with the pod's user and the files of the pod's volumes. The
// image's /server and /ipamctl come from this commit. The tests do not simulate NetworkPolicies, resource limits, capabilities and seccomp. They do
// not simulate networks either. A pod has a loopback address, which replaces the wildcard in its listen flags.
package install
