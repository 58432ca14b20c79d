package app

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/crdb/schema"
)

// Reconcile makes pools usable again in a region that could not use them after a restore from different backups. It works directly in a database with
// the current schema. See alloc.Service.Reconcile.
func Reconcile(ctx context.Context, dsn, region string, repair bool, forget []netip.Prefix) ([]regions.Reconciled, error) {
	store, err := openStore(ctx, dsn, region, schema.ServerRole)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	return alloc.New(store, alloc.Options{Region: region}).Reconcile(ctx, regions.Reconciling{Repair: repair, Forget: forget})
}
