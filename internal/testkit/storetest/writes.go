package storetest

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// writes contains the tests of plans for which the stored state has changed since a transaction made them.
var writes = map[string]func(*suite){
	"StalePlanWritesNothingAndIsRetried": func(s *suite) {
		w := s.worldWithKept()
		for name, plan := range w.stale() {
			var seen []int
			err := s.Store.InTx(s.ctx, "storetest_write", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
				seen = append(seen, tx.Attempt())
				if tx.Attempt() > 0 {
					return nil // the second attempt has nothing to write
				}
				return tx.Write(ctx, plan)
			})
			require.NoError(s, err, name)
			require.Equal(s, []int{0, 1}, seen, name)
		}
	},
	"RefusedWriteWritesNothing": func(s *suite) {
		w := s.worldWithKept()
		for name, plan := range w.stale() {
			s.changesNothing(func() {
				// The plan has an outdated part and a valid part.
				plan.Free = append(plan.Free, insert(w.c4, "10.0.0.0/32"))
				plan.StoredResponses = append(plan.StoredResponses, s.storedResponse(w.project, "other"))
				_ = s.Store.InTx(s.ctx, "storetest_write", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
					if tx.Attempt() > 0 {
						return nil
					}
					err := tx.Write(ctx, plan)
					require.Error(s, err, name)
					return err
				})
			})
		}
	},
	"AlwaysStalePlanEndsAsContention": func(s *suite) {
		w := s.world()
		runs := 0
		s.changesNothing(func() {
			err := s.Store.InTx(s.ctx, "storetest_write", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
				require.Equal(s, runs, tx.Attempt())
				runs++
				return tx.Write(ctx, storage.Changes{Free: []storage.FreeChange{remove(w.c4, "10.0.0.0/25")}})
			})
			require.True(s, ipam.IsCode(err, ipam.CodeContention), "%v", err)
			require.Positive(s, retryAfter(s, err))
		})
		require.Greater(s, runs, 5)
		require.LessOrEqual(s, runs, 200, "bounded")
	},
	"AllOrNothing": func(s *suite) {
		w := s.world()
		// The last statement of the last kind fails.
		good, bad := s.claim(w.project, w.v4, "good", "10.0.0.128/32"), s.claim(w.project, w.v4, "bad", "10.0.0.129/32")
		bad.AllocationID = w.held.ID // ids are random, so an id that is in use means a bug
		sp := s.space(w.project, "lab")
		s.changesNothing(func() {
			err := s.tryWrite(storage.Changes{
				Free:        []storage.FreeChange{remove(w.c4, "10.0.0.128/25"), insert(w.c6, "2001:db8::/128")},
				SpaceInsert: []ipam.Space{sp}, PoolDelete: &w.v6,
				ClaimInsert:     []ipam.Claim{good, bad},
				StoredResponses: []storage.StoredResponse{s.storedResponse(w.project, "key-2")},
			})
			require.True(s, ipam.IsCode(err, ipam.CodeInternal), "%v", err)
		})
	},
	"ReleasedBlockCanBeTakenInTheSameWrite": func(s *suite) {
		w := s.world()
		pool, claim := w.v6, w.claim
		pool.UID, pool.Revision = ipam.NewID(), ipam.NewID()
		claim.UID, claim.Revision, claim.AllocationID = ipam.NewID(), ipam.NewID(), ipam.NewID()
		c6 := storage.PoolContainer(pool)
		s.write(storage.Changes{
			Free:        []storage.FreeChange{remove(w.c6, "2001:db8::/32"), insert(c6, "2001:db8::/32")},
			PoolDelete:  &w.v6,
			PoolInsert:  []ipam.Pool{pool},
			ClaimDelete: []ipam.Claim{w.claim},
			ClaimInsert: []ipam.Claim{claim},
		})
		gotPool, err := s.Store.PoolGet(s.ctx, w.key, pool.Name)
		require.NoError(s, err)
		require.Equal(s, pool, gotPool)
		gotClaim, err := s.Store.ClaimGet(s.ctx, w.key, claim.Name)
		require.NoError(s, err)
		require.Equal(s, claim, gotClaim)
	},
	"EmptyChangesWriteNothing": func(s *suite) {
		w := s.world()
		s.changesNothing(func() { s.write(storage.Changes{Free: []storage.FreeChange{{Container: w.c4}}}) })
	},
	"ManyBlocksAreInsertedInOneWrite": func(s *suite) {
		w := s.world()
		var list []ipam.Claim
		for i := range uint64(1000) {
			c := s.claim(w.project, w.v6, nth("10.0.0.0/16", 32, i)[5:], nth("2001:db8::/48", 64, i))
			c.Name = "c-" + c.UID.String()
			list = append(list, c)
		}
		s.write(storage.Changes{ClaimInsert: list})
		count, err := s.Store.HeldCount(s.ctx, w.c6)
		require.NoError(s, err)
		require.Equal(s, int64(1000), count.Claims)
		s.write(storage.Changes{ClaimDelete: list})
		count, err = s.Store.HeldCount(s.ctx, w.c6)
		require.NoError(s, err)
		require.Equal(s, storage.Held{}, count)
	},
}

// stale returns one plan for each way in which a plan can be outdated.
func (w world) stale() map[string]storage.Changes {
	project, sp, pool, claim := w.project, w.space, w.v4, w.claim
	project.Revision, sp.Revision, pool.Revision = ipam.NewID(), ipam.NewID(), ipam.NewID()
	held, again := w.kept, w.kept
	held.ID, again.Revision = ipam.NewID(), ipam.NewID()
	bind := claim
	bind.Name, bind.UID, bind.Block, bind.PoolID, bind.AllocationID = "again", ipam.NewID(), w.kept.Block, w.kept.ContainerID, w.kept.ID
	return map[string]storage.Changes{
		"free block that is held":                  {Free: []storage.FreeChange{remove(w.c4, "10.0.0.0/25")}},
		"free block of another size":               {Free: []storage.FreeChange{remove(w.c4, "10.0.0.128/26")}},
		"free block of another container":          {Free: []storage.FreeChange{remove(w.c6, "10.0.0.128/25")}},
		"one of two free blocks":                   {Free: []storage.FreeChange{remove(w.c4, "10.0.0.128/25", "10.0.0.0/25")}},
		"project update, another revision":         {ProjectUpdate: &storage.ProjectUpdate{Was: project.Revision, Now: project}},
		"project delete, another revision":         {ProjectDelete: &project},
		"space update, another revision":           {SpaceUpdate: &storage.SpaceUpdate{Was: sp.Revision, Now: sp}},
		"space delete, another revision":           {SpaceDelete: []ipam.Space{sp}},
		"pool update, another revision":            {PoolUpdate: &storage.PoolUpdate{Was: pool.Revision, Now: pool}},
		"pool delete, another revision":            {PoolDelete: &pool},
		"allocation update, another revision":      {AllocationUpdate: &storage.AllocationUpdate{Was: again.Revision, Now: w.kept}},
		"allocation update, another id":            {AllocationUpdate: &storage.AllocationUpdate{Was: w.kept.Revision, Now: held}},
		"bound again, another revision":            {ClaimRebind: &storage.ClaimUpdate{Was: again.Revision, Now: bind}},
		"allocation delete, another revision":      {AllocationDelete: []ipam.Allocation{again}},
		"an allocation that a claim has":           {AllocationDelete: []ipam.Allocation{w.held}},
		"allocation delete, another id":            {AllocationDelete: []ipam.Allocation{held}},
		"one of two allocations":                   {AllocationDelete: []ipam.Allocation{w.kept, held}},
		"claim update, another revision":           {ClaimUpdate: &storage.ClaimUpdate{Was: ipam.NewID(), Now: claim}},
		"the same free block given up twice":       {Free: []storage.FreeChange{remove(w.c4, "10.0.0.128/25", "10.0.0.128/25")}},
		"the same allocation given up twice":       {AllocationDelete: []ipam.Allocation{w.kept, w.kept}},
		"a free block given up in two containers'": {Free: []storage.FreeChange{remove(w.c4, "10.0.0.128/25"), remove(w.c4, "10.0.0.128/25")}},
	}
}
