package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/ipam"
)

// scopeViolations checks each scoped pool: the scope must have the roles that the pool's class requires, and must match the key by which the pool is
// found.
func scopeViolations(ctx context.Context, tx pgx.Tx) ([]Finding, error) {
	rows, err := tx.Query(ctx, statement("scopes"))
	if err != nil {
		return nil, err
	}
	type scopedPool struct {
		id, name string
		scope    ipam.PoolScope
		class    ipam.ClassSpec
	}
	pools, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p scopedPool, err error) {
		err = row.Scan(&p.id, &p.name, &p.scope, &p.class)
		return p, err
	})
	var out []Finding
	for _, p := range pools {
		var pairs []string
		roles := map[string]bool{ipam.ScopeProject: true}
		for _, role := range slices.Sorted(maps.Keys(p.scope.Values)) {
			pairs = append(pairs, role+"="+p.scope.Values[role])
			roles[role] = true
		}
		asked := map[string]bool{}
		for _, role := range p.class.PoolPer {
			asked[role] = true
		}
		if p.scope.Key != strings.Join(pairs, ",") || !maps.Equal(roles, asked) {
			out = append(out, Finding{"classes", p.id, fmt.Sprintf("pool %s has scope %q, which does not match its class", p.name, p.scope.Key)})
		}
	}
	return out, err
}
