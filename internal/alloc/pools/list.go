package pools

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// classesBehind returns the classes whose claims may use a pool.
func classesBehind(p *ipam.Pool) []ipam.ClassRef {
	if p.Scope != nil {
		return []ipam.ClassRef{p.Scope.Class}
	}
	return p.Classes
}

// ListPools lists a project's pools by name. Each pool has the number of its free blocks by size.
func (s *reader) ListPools(ctx context.Context, project string, f paging.Filter, limit int, cursor string, r usecase.Reading,
) (paging.Page[ipam.Pool], error) {
	_, key, err := s.Enter(ctx, tenancy.PoolsRead, project)
	if err != nil {
		return paging.Page[ipam.Pool]{}, err
	}
	match := func(p *ipam.Pool) bool {
		return f.MatchesBlock(p.Block) && f.MatchesLabels(p.Labels) && paging.MatchesRef(f.Space, p.Space) && paging.MatchesRef(f.Parent, p.Spec.Parent) &&
			(f.Phase == "" || f.Phase == p.Phase()) && (f.Visibility == "" || f.Visibility == p.Spec.Visibility) && f.MatchesClass(classesBehind(p)...)
	}
	these, read := paging.ListOf("pools", key.ID, f), s.View(r)
	fetch := read.PoolList
	if f.Roots {
		fetch = read.PoolListRoots
	}
	unknown := usecase.Unknown(ctx, read, key, f)
	return usecase.OrUnknown[ipam.Pool, string](these, cursor, unknown, func(cursor string) (paging.Page[ipam.Pool], error) {
		return paging.Scan(ctx, s.Searching, these, cursor, limit, func(after string, n int) ([]ipam.Pool, error) {
			rows, err := fetch(ctx, key, after, n)
			if err != nil {
				return nil, err
			}
			return rows, storage.FillStock(ctx, read, rows)
		}, match, func(p ipam.Pool) string { return p.Name })
	})
}
