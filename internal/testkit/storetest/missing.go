package storetest

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

var missing = map[string]func(*suite){
	"IsNotFoundByKindAndName": func(s *suite) {
		w := s.world()
		other := s.project("red")
		otherSpace := s.space(other, "default")
		s.write(storage.Changes{ProjectInsert: &other, SpaceInsert: []ipam.Space{otherSpace}})
		red := storage.Key(other)
		second := func(_ any, err error) error { return err }
		for name, err := range map[string]error{
			"no project":                   second(s.Store.ProjectGet(s.ctx, "none")),
			"no space":                     second(s.Store.SpaceGet(s.ctx, w.key, "none")),
			"no pool":                      second(s.Store.PoolGet(s.ctx, w.key, "none")),
			"no pool of that id":           second(s.Store.PoolGetByID(s.ctx, ipam.NewID())),
			"no claim":                     second(s.Store.ClaimGet(s.ctx, w.key, "none")),
			"no allocation":                second(s.Store.AllocationGet(s.ctx, w.key, ipam.NewID())),
			"a pool of another project":    second(s.Store.PoolGet(s.ctx, red, "four")),
			"a claim of another one":       second(s.Store.ClaimGet(s.ctx, red, "first")),
			"an allocation of another one": second(s.Store.AllocationGet(s.ctx, red, w.held.ID)),
		} {
			require.True(s, ipam.IsCode(err, ipam.CodeNotFound), "%s: %v", name, err)
		}
	},
	"ListIsEmpty": func(s *suite) {
		w := s.world()
		nobody := storage.ProjectKey{ID: ipam.NewID(), Name: "nobody"}
		spaces, err := s.Store.SpaceList(s.ctx, nobody, "", 10)
		require.NoError(s, err)
		require.Empty(s, spaces)
		pools, err := s.Store.PoolList(s.ctx, w.key, "zzz", 10)
		require.NoError(s, err)
		require.Empty(s, pools)
		claims, err := s.Store.ClaimList(s.ctx, nobody, "", 10)
		require.NoError(s, err)
		require.Empty(s, claims)
		held, err := s.Store.AllocationList(s.ctx, nobody, storage.AllocationCursor{}, 10)
		require.NoError(s, err)
		require.Empty(s, held)
	},
	"PoolInATransactionIsNotFound": func(s *suite) {
		w := s.world()
		gone := w.c4
		gone.ID = ipam.NewID()
		err := s.Store.InTx(s.ctx, "storetest_read", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
			_, err := tx.GroupRead(ctx, gone, freespace.ReadsFor(gone.Block, []freespace.BlockRequest{{Bits: 32}}), storage.GroupQuery{})
			return err
		})
		require.True(s, ipam.IsCode(err, ipam.CodeNotFound), "%v", err)
	},
}
