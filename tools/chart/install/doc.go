// Package install puts helm/carve into a real Kubernetes API server, with a real etcd behind it and a real PostgreSQL beside it: install, test,
// upgrade, rollback, uninstall, by the helm binary.
//
// There is no kubelet, scheduler or controller manager: none can run here. What they do for this chart is played, as little of it as that
// takes: controllers_test.go makes pods of Jobs and Deployments, kubelet_test.go makes processes of pods. They read what the API server
// stored and write status back. A container is a process in a folder of its own that it cannot leave (chroot), as the user that the pod says,
// with the files that the pod's volumes say; the image's /server and /ipamctl are this commit's. Not played: networks (a pod has a loopback address,
// which replaces the wildcard in its listen flags), NetworkPolicies, limits of resources, capabilities and seccomp.
package install
