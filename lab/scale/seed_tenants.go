package scale

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"strings"

	"github.com/carve-ipam/carve/internal/ipam"
)

const tenantName = "tenant"

var tenantBlock = netip.MustParsePrefix("10.0.0.0/24")

// tenants makes n equal projects. Each has the default space, a member, a quota, and a pool with one held address. Operations go to random projects.
func tenants(n int) func(context.Context, *world) (layout, error) {
	return func(ctx context.Context, w *world) (layout, error) {
		first := heldName(tenantName, 0)
		if err := w.tenant(ctx, first); err != nil {
			return layout{}, err
		}
		if err := w.cloneTenants(ctx, first, n); err != nil {
			return layout{}, err
		}
		return layout{run: 1, pick: func(r *rand.Rand) place {
			project := heldName(tenantName, r.IntN(n))
			pool := ipam.Ref{Project: project, Name: poolName}
			return place{project: project, pool: pool, bits: 32, tight: pool, atMost: tenantBlock.Bits(), claim: "held", near: pool, address: tenantBlock.Addr(), alone: true}
		}, count: []countCheck{
			{"projects", "SELECT count(*) FROM projects WHERE name <> 'platform'", int64(n)},
			{"shards of quotas", "SELECT count(*) FROM quota_shards", int64(n) * ipam.QuotaShards},
			{"claims", "SELECT count(*) FROM holds WHERE name IS NOT NULL", int64(n)},
		}}, nil
	}
}

func (w *world) tenant(ctx context.Context, name string) error {
	limit := int64(100_000)
	return firstError(
		func() error { return w.project(ctx, name) },
		func() error {
			_, err := w.service.PutMember(caller(ctx, "putMember", ""), name, ipam.Member{Metadata: ipam.Metadata{Name: "corp:admin@example.com"}, Spec: ipam.MemberSpec{Role: "admin"}}, request)
			return err
		},
		func() error {
			_, err := w.service.PutQuota(caller(ctx, "putQuota", "all"), name, ipam.Quota{Metadata: ipam.Metadata{Name: "all"}, Spec: ipam.QuotaSpec{Limits: ipam.QuotaLimits{Claims: &limit}}}, request)
			return err
		},
		func() error { return w.pool(ctx, name, poolName, tenantBlock) },
		func() error { return w.claim(ctx, name, poolName, "held") },
	)
}

func (w *world) cloneTenants(ctx context.Context, first string, n int) error {
	if n < 2 {
		return nil
	}
	from, name := series(1, n-1), padded(tenantName+"-", "g.n")
	project, space, pool, four := uid("project"), uid("space"), uid("pool"), uid("four")
	const (
		own      = "t.project_id = (SELECT id FROM projects WHERE name = 'tenant-00000000')"
		ownV4    = "t.container_id = (SELECT s.container_v4 FROM spaces AS s JOIN projects AS o ON o.id = s.project_id WHERE o.name = 'tenant-00000000')"
		ownV6    = "t.container_id = (SELECT s.container_v6 FROM spaces AS s JOIN projects AS o ON o.id = s.project_id WHERE o.name = 'tenant-00000000')"
		ownPool  = "t.container_id = (SELECT p.id FROM pools AS p JOIN projects AS o ON o.id = p.project_id WHERE o.name = 'tenant-00000000')"
		ownQuota = "t.quota_id = (SELECT q.id FROM quotas AS q)"
	)
	doc := "replace(t.doc, '" + first + "', " + name + ")"
	steps := []struct {
		table, where string
		change       map[string]string
	}{
		{"holds", ownV4, map[string]string{
			"project_id": project, "container_id": four, "id": uid("hold"), "revision": uid("revision of the hold"), "holder_project_id": project, "doc": doc,
		}},
		{"holds", ownPool, map[string]string{
			"project_id": project, "container_id": pool, "id": uid("allocation"), "claim_id": uid("claim"), "revision": uid("revision"),
			"holder_project_id": project, "doc": doc,
		}},
		{"free_blocks", ownV4, map[string]string{"container_id": four}},
		{"free_blocks", ownV6, map[string]string{"container_id": uid("six")}},
		{"free_blocks", ownPool, map[string]string{"container_id": pool}},
		{"fences", "t.id" + strings.TrimPrefix(ownV4, "t.container_id"), map[string]string{"id": four}},
		{"fences", "t.id" + strings.TrimPrefix(ownV6, "t.container_id"), map[string]string{"id": uid("six")}},
		{"fences", "t.id" + strings.TrimPrefix(ownPool, "t.container_id"), map[string]string{"id": pool}},
		{"quota_shards", ownQuota, map[string]string{"quota_id": uid("quota")}},
		{"quotas", own, map[string]string{"id": uid("quota"), "project_id": project}},
		{"members", own, map[string]string{"id": uid("member"), "project_id": project}},
		{"pools", own, map[string]string{
			"id": pool, "project_id": project, "space_id": space, "space_project": name, "container_id": four, "container_project_id": project,
		}},
		{"spaces", own, map[string]string{"id": space, "project_id": project, "container_v4": four, "container_v6": uid("six")}},
		{"projects", "t.name = '" + first + "'", map[string]string{"id": project, "name": name}},
	}
	// The rows by which requests find other rows come last, so that no request finds an incomplete project.
	for _, round := range [][]string{{"holds", "free_blocks", "fences", "quota_shards"}, {"quotas", "members", "pools"}, {"spaces"}, {"projects"}} {
		var jobs []job
		for _, table := range round {
			jobs = append(jobs, job{table, func(s *seeder) error {
				for _, step := range steps {
					if step.table != table {
						continue
					}
					if err := s.clone(ctx, table, step.where, from, step.change); err != nil {
						return err
					}
				}
				return nil
			}})
		}
		if err := w.loadAll(ctx, n*ipam.QuotaShards, jobs...); err != nil {
			return err
		}
	}
	return nil
}
