package feed

import (
	"context"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/alerts"
	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/ipam"
)

// objectReader reads the current objects of one kind by name. It omits missing objects.
type objectReader func(ctx context.Context, read storage.Reader, in storage.ProjectKey, names []string) (map[string]ipam.Resource, error)

// kinds contains the kinds that clients can follow, by their names in the audit trail. A project's allocations are its claims' blocks, and its
// retained blocks.
var kinds = map[string]objectReader{
	trail.KindPool: func(ctx context.Context, read storage.Reader, in storage.ProjectKey, names []string) (map[string]ipam.Resource, error) {
		found, err := read.PoolsNamed(ctx, in, names)
		for i := range found {
			if err == nil {
				found[i], err = regions.WithStanding(ctx, read, found[i])
			}
		}
		return byName(found), err
	},
	trail.KindClaim: func(ctx context.Context, read storage.Reader, in storage.ProjectKey, names []string) (map[string]ipam.Resource, error) {
		found, err := read.ClaimsNamed(ctx, in, names)
		return byName(found), err
	},
	trail.KindAllocation: func(ctx context.Context, read storage.Reader, in storage.ProjectKey, names []string) (map[string]ipam.Resource, error) {
		ids := make([]ipam.ID, 0, len(names))
		for _, name := range names {
			if id, err := ipam.ParseID(name); err == nil {
				ids = append(ids, id)
			}
		}
		found, err := read.HoldingsNamed(ctx, in, ids)
		return byName(found), err
	},
	trail.KindClass: func(ctx context.Context, read storage.Reader, in storage.ProjectKey, names []string) (map[string]ipam.Resource, error) {
		found, err := pools.OwnClasses(ctx, read, in, names)
		return byName(found), err
	},
	trail.KindQuota: func(ctx context.Context, read storage.Reader, in storage.ProjectKey, names []string) (map[string]ipam.Resource, error) {
		found, err := read.QuotaList(ctx, in, "", storage.MaxQuotas) // all quotas, because they fit on one page
		return byName(found), err
	},
	trail.KindConsumer: func(ctx context.Context, read storage.Reader, in storage.ProjectKey, names []string) (map[string]ipam.Resource, error) {
		refs := make([]ipam.ConsumerRef, 0, len(names))
		for _, name := range names {
			if realm, uid, is := strings.Cut(name, "/"); is {
				refs = append(refs, ipam.ConsumerRef{Realm: realm, UID: uid})
			}
		}
		found, err := read.ConsumersNamed(ctx, in.ID, refs)
		all := make(map[string]ipam.Resource, len(found))
		for _, one := range found {
			one.Project = in.Name
			all[one.Ref().String()] = one
		}
		return all, err
	},
	trail.KindAlert: func(ctx context.Context, read storage.Reader, in storage.ProjectKey, names []string) (map[string]ipam.Resource, error) {
		refs := make([]storage.AlertRef, 0, len(names))
		for _, name := range names {
			if rule, subject, is := strings.Cut(name, "/"); is {
				refs = append(refs, storage.AlertRef{Rule: rule, Subject: subject})
			}
		}
		found, err := alerts.Named(ctx, read, in, refs)
		return byName(found), err
	},
}

func byName[T ipam.Resource](found []T) map[string]ipam.Resource {
	all := make(map[string]ipam.Resource, len(found))
	for _, one := range found {
		all[one.Meta().Name] = one
	}
	return all
}
