package storetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// cooling returns a released block that cools down until a time, in minutes after born.
func (s *suite) cooling(w world, pool ipam.Pool, block string, minutes int) ipam.Allocation {
	a := s.held(s.claim(w.project, pool, "was-"+block, block))
	a.Phase, a.CoolUntil = ipam.PhaseCoolingDown, born.Add(time.Duration(minutes)*time.Minute)
	return a
}

var cooldowns = map[string]func(*suite){
	"OverListsEndedCooldownsOldestFirst": func(s *suite) {
		w := s.world()
		third, first := s.cooling(w, w.v4, "10.0.0.200/32", 3), s.cooling(w, w.v4, "10.0.0.201/32", 1)
		second, later := s.cooling(w, w.v6, "2001:db8::/64", 2), s.cooling(w, w.v6, "2001:db8:1::/64", 4)
		s.write(storage.Changes{AllocationInsert: []ipam.Allocation{third, first, second, later}})
		for _, q := range []struct {
			minutes, limit int
			want           []ipam.Allocation
		}{
			{3, 10, []ipam.Allocation{first, second, third}}, {3, 2, []ipam.Allocation{first, second}}, {1, 10, []ipam.Allocation{first}}, {0, 10, nil},
		} {
			got, err := s.Store.CooledDown(s.ctx, born.Add(time.Duration(q.minutes)*time.Minute), q.limit)
			require.NoError(s, err)
			require.Equal(s, q.want, append([]ipam.Allocation(nil), got...))
		}
	},
	"NextIsTheEndOfTheFirstLargeEnoughCooldown": func(s *suite) {
		w := s.world()
		s.write(storage.Changes{AllocationInsert: []ipam.Allocation{
			s.cooling(w, w.v4, "10.0.0.128/28", 9), s.cooling(w, w.v4, "10.0.0.144/28", 7),
			s.cooling(w, w.v4, "10.0.0.160/30", 3), s.cooling(w, w.v4, "10.0.0.164/32", 1), s.cooling(w, w.v6, "2001:db8::/40", 5),
		}})
		for _, q := range []struct {
			four, six    int // prefix lengths
			want4, want6 int // minutes; 0: no block
		}{
			{32, 40, 1, 5}, {31, 41, 0, 0}, {30, 40, 3, 5}, {28, 39, 7, 0}, {27, 32, 0, 0},
		} {
			want := map[ipam.ID]time.Time{}
			for id, minutes := range map[ipam.ID]int{w.v4.UID: q.want4, w.v6.UID: q.want6} {
				if minutes > 0 {
					want[id] = born.Add(time.Duration(minutes) * time.Minute)
				}
			}
			got, err := s.Store.CoolingNext(s.ctx, []storage.RoomQuery{{Container: w.c4, Bits: q.four}, {Container: w.c6, Bits: q.six}})
			require.NoError(s, err)
			require.Equal(s, want, got, "%+v", q)
		}
		none, err := s.Store.CoolingNext(s.ctx, nil)
		require.NoError(s, err)
		require.Empty(s, none)
	},
	"StocksAndHeldCountsSeparateCoolingBlocks": func(s *suite) {
		w := s.world()
		s.write(storage.Changes{AllocationInsert: []ipam.Allocation{
			s.cooling(w, w.v4, "10.0.0.144/28", 7), s.cooling(w, w.v4, "10.0.0.160/28", 3), s.cooling(w, w.v4, "10.0.0.164/32", 1),
		}})
		got, err := s.Store.Stocks(s.ctx, []storage.Container{w.c4, w.c6})
		require.NoError(s, err)
		require.Equal(s, map[ipam.ID]ipam.Stock{
			w.v4.UID: {Free: map[int]int64{25: 1}, Cooling: map[int]int64{28: 2, 32: 1}}, w.v6.UID: {Free: map[int]int64{32: 1}},
		}, got)
		held, err := s.Store.HeldCount(s.ctx, w.c4)
		require.NoError(s, err)
		require.Equal(s, storage.Held{Claims: 1, CoolingDown: 3}, held)
	},
	"ReleasedAllocationBeginsToCoolDown": func(s *suite) {
		w := s.world()
		now := w.held
		now.Phase, now.CoolUntil, now.Revision = ipam.PhaseCoolingDown, born.Add(time.Hour), ipam.NewID()
		s.write(storage.Changes{ClaimRelease: []storage.Release{{Claim: w.claim, Now: now}}})
		got, err := s.Store.AllocationGet(s.ctx, w.key, now.ID)
		require.NoError(s, err)
		require.Equal(s, now, got)
		_, err = s.Store.ClaimGet(s.ctx, w.key, w.claim.Name)
		require.True(s, ipam.IsCode(err, ipam.CodeNotFound), "%v", err)
		s.changesNothing(func() {
			without := now
			without.CoolUntil = time.Time{}
			err := s.tryWrite(storage.Changes{AllocationUpdate: &storage.AllocationUpdate{Was: now.Revision, Now: without}})
			require.True(s, ipam.IsCode(err, ipam.CodeInternal), "without an end it would never: %v", err)
		})
	},
}
