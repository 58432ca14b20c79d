package crdb_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// A claim by class reads the class by its key. It finds the pools of the class by key ranges in two projects: the project of the claim, and the
// project of the class. So its cost does not depend on other projects, classes or pools. Compared with a claim on a pool, it sends the two look-ups
// of the class instead of the look-up of the pool.
func TestClaimByClassReadsOnlyItsClassAndPools(t *testing.T) {
	t.Parallel()
	m, h := newMeter(t)
	ctx := admin(t)
	made := func(_ any, err error) {
		t.Helper()
		require.NoError(t, err)
	}
	newProject(t, h, "tenant")
	shared := func(s *ipam.ClassSpec) { s.Visibility = ipam.VisibilityShared }
	made(h.svc.CreateClass(ctx, project, classOf("class", shared, isDefault), false, usecase.Request{}))
	for _, at := range []struct{ project, name, block string }{{project, "behind", "10.0.0.0/16"}, {"tenant", "own", "10.0.0.0/16"}, {"tenant", "beside", "10.1.0.0/16"}} {
		p := rootPool(at.name, at.block)
		if at.name != "beside" {
			p.Spec.ClassNames = []string{"class"}
		}
		made(h.svc.CreatePool(ctx, at.project, p, usecase.Request{}))
	}
	for _, sql := range []string{
		"INSERT INTO projects SELECT md5('p' || i)::UUID, 'filler-' || i, '', '', NULL, '{}', '{}', 1, gen_random_uuid(), now(), now(), 'filler' FROM generate_series(1, 500) AS i",
		"INSERT INTO classes SELECT md5('c' || i)::UUID, md5('p' || (i % 500 + 1))::UUID, 'class-' || i, 4, 'shared', i <= 500, '{}', '{}', '{}', 1, gen_random_uuid(), now(), now(), 'filler' FROM generate_series(1, 5000) AS i",
		"INSERT INTO pools SELECT md5('l' || i)::UUID, md5('p' || (i % 500 + 1))::UUID, 'pool-' || i, region, '[]', space_id, space_project, space_name, gen_random_uuid(), container_project_id, '', '', af, base, plen, " +
			"by_cidr, visibility, strategy, NULL, NULL, NULL, '[]', classes, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '', '{}', '{}', 1, gen_random_uuid(), now(), now(), 'filler' FROM pools CROSS JOIN generate_series(1, 5000) AS i WHERE name = 'behind'",
		"INSERT INTO pool_classes SELECT (SELECT id FROM classes WHERE name = 'class'), project_id, name, id FROM pools WHERE name LIKE 'pool-%'",
		"VACUUM ANALYZE",
	} {
		_, err := m.conn.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
	byName := m.of(t, func(ctx context.Context, svc *alloc.Service) {
		made(svc.CreateClaim(ctx, "tenant", claimOf("by-pool", "tenant", "own", 28), usecase.Request{}))
	})
	for name, class := range map[string]string{"named": "class", "default": ""} {
		cost := m.of(t, func(ctx context.Context, svc *alloc.Service) {
			made(svc.CreateClaim(ctx, "tenant", byClass("by-"+name, class), usecase.Request{}))
		})
		require.Zero(t, cost.scans, name)
		require.LessOrEqual(t, cost.rows["classes"], int64(3), "%s: looked up with the claim, with the pools, and when it is written: %v", name, cost.statements)
		require.Equal(t, int64(2), cost.rows["pool_classes"], "%s: %v", name, cost.statements)
		require.LessOrEqual(t, cost.rows["pools"], int64(4), "%s: two behind the class, and the one that is taken again: %v", name, cost.statements)
		require.LessOrEqual(t, len(cost.statements), len(byName.statements)+3, "%s, met for the first time: %v; %v", name, cost.statements, byName.statements)
		both := m.of(t, func(ctx context.Context, svc *alloc.Service) {
			made(svc.CreateClaim(ctx, "tenant", byClass("first-by-"+name, class), usecase.Request{}))
			made(svc.CreateClaim(ctx, "tenant", byClass("then-by-"+name, class), usecase.Request{}))
		})
		require.LessOrEqual(t, len(both.statements), len(cost.statements)+len(byName.statements)+1, "%s: what is remembered is not read again, but for the room in two pools: %v", name, both.statements)
		require.LessOrEqual(t, both.rows["pool_classes"], int64(2), name)
	}
}
