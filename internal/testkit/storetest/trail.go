package storetest

import (
	"encoding/json"
	"net/netip"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *suite) event(p ipam.Project, at time.Time) ipam.Event {
	return ipam.Event{
		ID: ipam.NewTimeID(at), ProjectID: p.UID, At: at, Subject: "corp:alice", Method: "oidc", Remote: "192.0.2.7", RequestID: "req-1",
		Operation: "replacePool", Kind: "Pool", Name: "four", Outcome: ipam.OutcomeOK,
		Before: json.RawMessage(`{"a": 1, "b": {"c": "é \" 漢"}, "n": 340282366920938463463374607431768211456}`), After: json.RawMessage(`{"a": null}`),
	}
}

var events = map[string]func(*suite){
	"AllFieldsRoundTrip": func(s *suite) {
		w := s.world()
		whole, bare := s.event(w.project, born), s.event(w.project, born.Add(time.Second))
		bare.Before, bare.After, bare.Outcome, bare.Name = nil, nil, string(ipam.CodePermissionDenied), ""
		everyFieldHasAValue(s, []ipam.Event{whole})
		s.write(storage.Changes{Events: []ipam.Event{whole, bare}})
		got, err := s.Store.EventList(s.ctx, w.key, ipam.ID{}, ipam.ID{}, 10)
		require.NoError(s, err)
		require.Equal(s, []ipam.Event{bare, whole}, got, "the newest first")
	},
	"ListOfAProjectIsNewestFirstInPages": func(s *suite) {
		w := s.world()
		var ch storage.Changes
		var want []ipam.ID
		for i := range 9 {
			e := s.event(w.project, born.Add(time.Duration(-i)*time.Hour))
			ch.Events = append(ch.Events, e, s.event(s.project("red"), e.At))
			want = append(want, e.ID)
		}
		s.write(ch)
		for _, from := range []int{9, 8, 5, 1} {
			lowest := ipam.ID{}
			if from < 9 {
				lowest = want[from-1]
			}
			inPages(s, ipam.ID{}, func(before ipam.ID, limit int) ([]ipam.Event, error) {
				return s.Store.EventList(s.ctx, w.key, lowest, before, limit)
			}, func(e ipam.Event) ipam.ID { return e.ID }, want[:from])
		}
		at := ipam.FirstTimeID(born.Add(-3 * time.Hour))
		list, err := s.Store.EventList(s.ctx, w.key, at, ipam.FirstTimeID(born), 10)
		require.NoError(s, err)
		require.Len(s, list, 3, "what began at or after a time, and before another")
	},
	"EventIsWrittenAtMostOnce": func(s *suite) {
		w := s.world()
		e := s.event(w.project, born)
		s.write(storage.Changes{Events: []ipam.Event{e}})
		s.changesNothing(func() {
			err := s.tryWrite(storage.Changes{Events: []ipam.Event{s.event(w.project, born), e}})
			require.True(s, ipam.IsCode(err, ipam.CodeInternal), "%v", err)
			gone := w.claim
			gone.Revision = ipam.NewID()
			var conflict *storage.Conflict
			require.ErrorAs(s, s.tryWrite(storage.Changes{ClaimDelete: []ipam.Claim{gone}, Events: []ipam.Event{s.event(w.project, born)}}), &conflict, "no effect, no event")
		})
	},
}

// hold returns a hold of a block in a pool between two times, in hours after born.
func (s *suite) hold(pool ipam.Pool, block string, since, until int) ipam.Hold {
	return ipam.Hold{
		ID: ipam.NewID(), ProjectID: pool.ProjectID, Project: pool.Project, Pool: pool.Ref(), Block: cidr(block),
		Purpose: ipam.PurposeClaim, Phase: ipam.PhaseRetained, AllocationID: ipam.NewID(), Holder: ipam.Ref{Project: "red", Name: "c"},
		Because: ipam.ReleaseCause{Reason: ipam.ReasonExpired, Consumer: ipam.ConsumerRef{Realm: "cluster-a", UID: "vm-1"}},
		Since:   born.Add(time.Duration(since) * time.Hour), Until: born.Add(time.Duration(until) * time.Hour),
	}
}

// candidates returns all blocks that can contain an address.
func candidates(address string) (out []netip.Prefix) {
	a := netip.MustParseAddr(address)
	for bits := range a.BitLen() + 1 {
		out = append(out, netip.PrefixFrom(a, bits).Masked())
	}
	return out
}

var history = map[string]func(*suite){
	"AllFieldsRoundTrip": func(s *suite) {
		w := s.world()
		for _, h := range []ipam.Hold{s.hold(w.v4, "10.0.0.128/26", 1, 2), s.hold(w.v6, "2001:db8::/64", 1, 2)} {
			everyFieldHasAValue(s, []ipam.Hold{h})
			s.write(storage.Changes{History: []ipam.Hold{h}})
			reads(s, []ipam.Hold{h})(s.Store.HistoryAt(s.ctx, w.key, []netip.Prefix{h.Block}, h.Since, 10))
			reads(s, []ipam.Hold{h})(s.Store.HistoryList(s.ctx, w.key, []netip.Prefix{h.Block}, storage.HistoryCursor{}, 10))
		}
	},
	"HoldersOfAnAddressAtATime": func(s *suite) {
		w := s.world()
		red := s.project("red")
		theirs := w.v4
		theirs.ProjectID = red.UID
		small, next, large, beside := s.hold(w.v4, "10.0.0.130/32", 1, 3), s.hold(w.v4, "10.0.0.130/32", 3, 5), s.hold(w.v4, "10.0.0.128/25", 2, 4), s.hold(w.v4, "10.0.0.131/32", 1, 5)
		s.write(storage.Changes{History: []ipam.Hold{small, next, large, beside, s.hold(theirs, "10.0.0.130/32", 0, 9)}})
		for hour, want := range map[int][]ipam.Hold{
			0: nil, 1: {small}, 2: {small, large}, 3: {next, large}, 4: {next}, 5: nil,
		} {
			got, err := s.Store.HistoryAt(s.ctx, w.key, candidates("10.0.0.130"), born.Add(time.Duration(hour)*time.Hour), 10)
			require.NoError(s, err)
			require.ElementsMatch(s, want, got, "hour %d", hour)
		}
		got, err := s.Store.HistoryAt(s.ctx, w.key, candidates("10.0.0.130"), born.Add(2*time.Hour), 1)
		require.NoError(s, err)
		require.Len(s, got, 1)
	},
	"ListIsNewestFirstInPages": func(s *suite) {
		w := s.world()
		var ch storage.Changes
		var want []ipam.ID
		cursors := map[ipam.ID]storage.HistoryCursor{{}: {}}
		for i := range 8 {
			h := s.hold(w.v4, []string{"10.0.0.130/32", "10.0.0.128/25", "10.0.0.128/30"}[i%3], 0, 20-i/2*2) // two holds for each time
			h.ID = ipam.ID{byte(100 - i)}
			ch.History = append(ch.History, h, s.hold(w.v4, "10.0.0.1/32", 0, i+1))
			want = append(want, h.ID)
			cursors[h.ID] = storage.HistoryCursor{Until: h.Until, ID: h.ID}
		}
		s.write(ch)
		inPages(s, ipam.ID{}, func(before ipam.ID, limit int) ([]ipam.Hold, error) {
			return s.Store.HistoryList(s.ctx, w.key, candidates("10.0.0.130"), cursors[before], limit)
		}, func(h ipam.Hold) ipam.ID { return h.ID }, want)
	},
	"HoldsOfAProjectInForeignPools": func(s *suite) {
		w := s.world()
		red := s.project("red")
		green := s.project("green")
		space, lab := s.space(red, "default"), s.space(red, "lab")
		small, large, beside := s.root(space, "small", "10.0.0.0/24"), s.root(lab, "large", "10.0.0.0/8"), s.root(space, "beside", "10.1.0.0/16")
		s.write(storage.Changes{ProjectInsert: &red, SpaceInsert: []ipam.Space{space, lab}})
		for _, p := range []ipam.Pool{small, large, beside} {
			s.write(storage.Changes{PoolInsert: []ipam.Pool{p}})
		}
		held := func(p ipam.Project, pool ipam.Pool, name, block string, phase ipam.Phase) ipam.Allocation {
			a := s.held(s.claim(p, pool, name, block))
			if a.Phase = phase; phase == ipam.PhaseCoolingDown {
				a.CoolUntil = born.Add(time.Hour)
			}
			return a
		}
		hostClaim := s.claim(w.project, small, "host", "10.0.0.130/32")
		host := hostClaim.Allocation()
		wide := held(w.project, large, "wide", "10.0.0.128/25", ipam.PhaseRetained)
		s.write(storage.Changes{ProjectInsert: &green})
		s.write(storage.Changes{AllocationInsert: []ipam.Allocation{
			wide, held(w.project, small, "cold", "10.0.0.133/32", ipam.PhaseCoolingDown),
		}, ClaimInsert: []ipam.Claim{
			hostClaim, s.claim(w.project, small, "next", "10.0.0.131/32"), s.claim(green, small, "theirs", "10.0.0.132/32"),
			s.claim(w.project, beside, "beside", "10.1.0.0/24"),
		}})
		for address, want := range map[string][]ipam.Allocation{
			"10.0.0.130": {host, wide}, "10.0.0.129": {wide}, "10.0.0.132": {wide}, "10.0.0.133": {wide}, "10.0.0.1": nil, "10.2.0.0": nil,
		} {
			got, err := s.Store.HeldElsewhere(s.ctx, []ipam.ID{w.key.ID}, candidates(address), 10)
			require.NoError(s, err)
			require.ElementsMatch(s, want, got, address)
		}
		got, err := s.Store.HeldElsewhere(s.ctx, []ipam.ID{w.key.ID}, candidates("10.0.0.1"), 10)
		require.NoError(s, err)
		require.Empty(s, got, "its own pool is no other one")
		got, err = s.Store.HeldElsewhere(s.ctx, []ipam.ID{red.UID}, candidates("10.0.0.130"), 10)
		require.NoError(s, err)
		require.Empty(s, got, "the owner of the pools holds nothing")
	},
	"PoolsThatCoverAnAddressAreOfTheProject": func(s *suite) {
		e := s.estate()
		theirs := s.space(e.other, "default")
		own := s.root(theirs, "own", "10.0.0.0/24")
		kid := s.child(e.v4, e.space, "kid", "10.0.0.128/26", true)
		lab := s.space(e.project, "lab")
		same := s.root(lab, "same", "10.0.0.0/24")
		s.write(storage.Changes{SpaceInsert: []ipam.Space{theirs, lab}})
		for _, p := range []ipam.Pool{own, kid, same} {
			s.write(storage.Changes{PoolInsert: []ipam.Pool{p}})
		}
		for address, want := range map[string][]ipam.Pool{
			"10.0.0.130": {e.v4, kid, same}, "10.0.0.1": {e.v4, same}, "10.0.1.0": nil, "2001:db8::1": {e.v6}, "2001:db9::": nil,
		} {
			got, err := s.Store.PoolListCovering(s.ctx, e.key, candidates(address), 10)
			require.NoError(s, err)
			require.ElementsMatch(s, want, got, address)
		}
		got, err := s.Store.PoolListCovering(s.ctx, e.key, candidates("10.0.0.130"), 2)
		require.NoError(s, err)
		require.Len(s, got, 2)
	},
	"HeldAtReturnsCurrentHolds": func(s *suite) {
		w := s.world()
		reserved := s.holds(w.c4, "10.0.0.128/30", ipam.PurposeReservation, ipam.Ref{})
		six := s.holds(w.c6, "2001:db8::/48", ipam.PurposeChildPool, ipam.Ref{Project: "blue", Name: "kid"})
		elsewhere := s.holds(storage.SpaceContainer(w.space, ipam.IPv4), "10.0.0.0/24", ipam.PurposeRootPool, w.v4.Ref())
		s.write(storage.Changes{AllocationInsert: []ipam.Allocation{reserved, six, elsewhere}})
		both := []storage.Container{w.c4, w.c6}
		for _, c := range []struct {
			pools   []storage.Container
			address string
			want    []ipam.Allocation
		}{
			{both, "10.0.0.7", []ipam.Allocation{w.held}}, {both, "10.0.0.131", []ipam.Allocation{reserved}}, {both, "10.0.0.132", nil},
			{both, "2001:db8::1", []ipam.Allocation{six}}, {both[:1], "2001:db8::1", nil}, {both[1:], "10.0.0.7", nil}, {nil, "10.0.0.7", nil},
		} {
			got, err := s.Store.HeldAt(s.ctx, c.pools, candidates(c.address))
			require.NoError(s, err)
			require.ElementsMatch(s, c.want, got, c.address)
		}
	},
	"AllocationIsFoundByIDForHolderAndOwner": func(s *suite) {
		w := s.world()
		root := s.holds(storage.SpaceContainer(w.space, ipam.IPv4), "10.0.0.0/24", ipam.PurposeRootPool, w.v4.Ref())
		s.write(storage.Changes{AllocationInsert: []ipam.Allocation{root}})
		green := s.project("green")
		theirs := s.claim(green, w.v4, "theirs", "10.0.0.128/26")
		lent := theirs.Allocation()
		s.write(storage.Changes{ProjectInsert: &green})
		s.write(storage.Changes{ClaimInsert: []ipam.Claim{theirs}})
		for of, found := range map[storage.ProjectKey][]ipam.Allocation{w.key: {w.held, lent}, storage.Key(green): {lent}} {
			for _, want := range found {
				reads(s, want)(s.Store.AllocationGetByID(s.ctx, of, want.ID))
			}
		}
		for id, of := range map[ipam.ID]storage.ProjectKey{
			ipam.NewID(): w.key, root.ID: w.key, w.held.ID: storage.Key(green), lent.ID: {ID: ipam.NewID(), Name: "blue"},
		} {
			_, err := s.Store.AllocationGetByID(s.ctx, of, id)
			require.True(s, ipam.IsCode(err, ipam.CodeNotFound), "%v", err)
		}
	},
}
