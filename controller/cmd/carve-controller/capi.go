package main

import (
	"flag"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/carve-ipam/carve/controller/internal/capi"
	"github.com/carve-ipam/carve/controller/internal/claims"
)

// clusterAPI has the flag that enables the provider for Cluster API.
type clusterAPI struct{ on bool }

func (c *clusterAPI) flags(flag *flag.FlagSet) {
	flag.BoolVar(&c.on, "cluster-api", false, "serve Cluster API's IPAddressClaims for an IPPool or IPClass; the kinds of Cluster API must be installed")
}

func (c *clusterAPI) setup(manager ctrl.Manager, of *claims.Reconciler, workers int) error {
	if !c.on {
		return nil
	}
	r := &capi.Reconciler{Client: manager.GetClient(), Live: manager.GetAPIReader(), Carve: of.Realm.Carve, Project: of.Realm.Project}
	of.Shown = r.Shown
	return r.Setup(manager, workers)
}
