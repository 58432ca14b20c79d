package storetest

import (
	"context"
	"math/big"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

var quotas = map[string]func(*suite){
	"AllFieldsRoundTripWithTheUsage": func(s *suite) {
		e := s.estate()
		open, openShards := s.quota(e.project, "open")
		open.Spec = ipam.QuotaSpec{Limits: ipam.QuotaLimits{Claims: new(int64(0))}}
		zero, zeroShards := s.quota(e.project, "zero")
		zero.Spec = ipam.QuotaSpec{Scope: ipam.QuotaScope{Family: ipam.IPv6}, Limits: ipam.QuotaLimits{Addresses: new(big.Int)}}
		zero.Overdrawn = false
		s.write(storage.Changes{QuotaChanges: storage.QuotaChanges{QuotaInsert: &open, ShardInsert: openShards}})
		s.write(storage.Changes{QuotaChanges: storage.QuotaChanges{QuotaInsert: &zero, ShardInsert: zeroShards}})
		everyFieldHasAValue(s, []ipam.Quota{e.quota}, notBare...)
		for _, q := range []ipam.Quota{e.quota, open, zero} {
			reads(s, q)(s.Store.QuotaGet(s.ctx, e.key, q.Name))
		}
	},
	"UpdateReplacesMutableFields": func(s *suite) {
		e := s.estate()
		now := e.quota
		now.Metadata = updated(now.Metadata)
		now.Labels, now.Overdrawn = nil, false
		now.Spec = ipam.QuotaSpec{Scope: ipam.QuotaScope{Family: ipam.IPv6}, Limits: ipam.QuotaLimits{Addresses: big.NewInt(1)}, Description: ""}
		s.write(storage.Changes{QuotaChanges: storage.QuotaChanges{QuotaUpdate: &storage.QuotaUpdate{WasRevision: e.quota.Revision, Now: now}}})
		reads(s, now)(s.Store.QuotaGet(s.ctx, e.key, now.Name))
	},
	"MarkIsUpdatedAlone": func(s *suite) {
		e := s.estate()
		for _, want := range []bool{false, true} {
			s.write(storage.Changes{QuotaChanges: storage.QuotaChanges{QuotaOverdrawn: []storage.QuotaMark{{ProjectID: e.project.UID, Name: "all", Overdrawn: want}}}})
			e.quota.Overdrawn = want
			reads(s, e.quota)(s.Store.QuotaGet(s.ctx, e.key, "all"))
		}
	},
	"DeleteRemovesItsShards": func(s *suite) {
		e := s.estate()
		other, shards := s.quota(e.project, "other")
		s.write(storage.Changes{QuotaChanges: storage.QuotaChanges{QuotaInsert: &other, ShardInsert: shards}})
		s.write(storage.Changes{QuotaChanges: storage.QuotaChanges{QuotaDelete: &e.quota}})
		_, err := s.Store.QuotaGet(s.ctx, e.key, "all")
		require.True(s, ipam.IsCode(err, ipam.CodeNotFound), "%v", err)
		left, err := s.Store.QuotaShards(s.ctx, []ipam.ID{e.quota.UID})
		require.NoError(s, err)
		require.Empty(s, left)
		left, err = s.Store.QuotaShards(s.ctx, []ipam.ID{other.UID})
		require.NoError(s, err)
		require.ElementsMatch(s, shards, left)
	},
	"ListOfAProjectIsByNameInPages": func(s *suite) {
		e := s.estate()
		s.write(storage.Changes{QuotaChanges: storage.QuotaChanges{QuotaDelete: &e.quota}})
		for _, name := range names {
			for _, p := range []ipam.Project{e.project, e.other} {
				q, shards := s.quota(p, name)
				if p.Name != "blue" {
					q.Name += "x"
				}
				s.write(storage.Changes{QuotaChanges: storage.QuotaChanges{QuotaInsert: &q, ShardInsert: shards}})
			}
		}
		inPages(s, "", func(after string, limit int) ([]ipam.Quota, error) {
			list, err := s.Store.QuotaList(s.ctx, e.key, after, limit)
			for _, q := range list {
				require.Equal(s, int64(120), q.Used.Claims)
			}
			return list, err
		}, func(q ipam.Quota) string { return q.Name }, names)
	},
	"PartsAreAllQuotasWithTheRequestedShard": func(s *suite) {
		e := s.estate()
		second, secondShards := s.quota(e.project, "second")
		theirs, theirShards := s.quota(e.other, "all")
		s.write(storage.Changes{QuotaChanges: storage.QuotaChanges{QuotaInsert: &second, ShardInsert: secondShards}})
		s.write(storage.Changes{QuotaChanges: storage.QuotaChanges{QuotaInsert: &theirs, ShardInsert: theirShards}})
		part := func(q ipam.Quota, shards []ipam.QuotaShard, n int) storage.QuotaPart {
			q.Used, q.Project = ipam.Usage{}, ""
			return storage.QuotaPart{Quota: q, Shard: shards[n]}
		}
		for n := range ipam.QuotaShards {
			mine := []storage.QuotaPart{part(e.quota, e.shards, n), part(second, secondShards, n)}
			for _, c := range []struct {
				projects []ipam.ID
				want     []storage.QuotaPart
			}{
				{[]ipam.ID{e.project.UID}, mine},
				{[]ipam.ID{e.other.UID, e.project.UID}, append(mine, part(theirs, theirShards, n))},
				{[]ipam.ID{ipam.NewID()}, nil},
			} {
				got, err := s.Store.QuotaParts(s.ctx, c.projects, n)
				require.NoError(s, err)
				require.ElementsMatch(s, c.want, withoutProjectName(got))
				require.NoError(s, s.Store.InTx(s.ctx, "storetest_read", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
					facts, err := tx.GroupRead(ctx, e.c4, freespace.Reads{}, storage.GroupQuery{Projects: c.projects, Shard: n, Consumers: []string{"red"}})
					require.NoError(s, err)
					require.ElementsMatch(s, c.want, withoutProjectName(facts.Quotas))
					require.Equal(s, map[string]bool{"red": true}, facts.Granted)
					return err
				}))
			}
		}
	},
	"LargeFiguresRoundTripExactly": func(s *suite) {
		e := s.estate()
		was := e.shards[3]
		for i, n := range []*big.Int{
			new(big.Int), big.NewInt(-1), power(63), power(64), power(128), new(big.Int).Neg(power(128)), new(big.Int).Sub(power(128), big.NewInt(1)),
			new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil), new(big.Int).Exp(big.NewInt(10), big.NewInt(40), nil),
		} {
			now := was
			now.Used, now.Spare = ipam.Usage{Addresses: n, Claims: int64(i), Pools: -int64(i)}, ipam.Usage{Addresses: new(big.Int).Neg(n), Claims: -1 << 62, Pools: 1 << 62}
			if n.Sign() == 0 {
				now.Spare.Addresses = new(big.Int)
			}
			s.write(storage.Changes{QuotaChanges: storage.QuotaChanges{ShardUpdate: []storage.ShardUpdate{{Was: was, Now: now}}}})
			got, err := s.Store.QuotaShards(s.ctx, []ipam.ID{e.quota.UID})
			require.NoError(s, err)
			require.Contains(s, got, now)
			require.Len(s, got, ipam.QuotaShards)
			was = now
		}
	},
	"StalePlanIsRetried": func(s *suite) {
		e := s.estate()
		elsewhen := e.quota
		elsewhen.Revision = ipam.NewID()
		again, againShards := s.quota(e.project, "all")
		orphan, orphanShards := s.quota(s.project("nowhere"), "all")
		plans := map[string]storage.Changes{
			"made by now":                  {QuotaChanges: storage.QuotaChanges{QuotaInsert: &again, ShardInsert: againShards}},
			"its project is gone":          {QuotaChanges: storage.QuotaChanges{QuotaInsert: &orphan, ShardInsert: orphanShards}},
			"an update, another revision":  {QuotaChanges: storage.QuotaChanges{QuotaUpdate: &storage.QuotaUpdate{WasRevision: elsewhen.Revision, Now: e.quota}}},
			"a deletion, another revision": {QuotaChanges: storage.QuotaChanges{QuotaDelete: &elsewhen}},
			"a mark on none":               {QuotaChanges: storage.QuotaChanges{QuotaOverdrawn: []storage.QuotaMark{{ProjectID: e.project.UID, Name: "none"}}}},
			"a shard of none":              {QuotaChanges: storage.QuotaChanges{ShardUpdate: []storage.ShardUpdate{{Was: againShards[1], Now: againShards[1]}}}},
		}
		one := big.NewInt(1)
		for name, change := range map[string]func(*ipam.QuotaShard){
			"addresses used":     func(q *ipam.QuotaShard) { q.Used.Addresses = one },
			"claims used":        func(q *ipam.QuotaShard) { q.Used.Claims++ },
			"pools used":         func(q *ipam.QuotaShard) { q.Used.Pools++ },
			"addresses to spare": func(q *ipam.QuotaShard) { q.Spare.Addresses = one },
			"claims to spare":    func(q *ipam.QuotaShard) { q.Spare.Claims++ },
			"pools to spare":     func(q *ipam.QuotaShard) { q.Spare.Pools++ },
		} {
			was := e.shards[3]
			change(&was)
			plans["a shard, other "+name] = storage.Changes{QuotaChanges: storage.QuotaChanges{ShardUpdate: []storage.ShardUpdate{{Was: was, Now: e.shards[3]}}}}
		}
		s.staleRunsAgain(plans)
	},
}

// withoutProjectName removes the project's name, which QuotaParts does not return.
func withoutProjectName(parts []storage.QuotaPart) []storage.QuotaPart {
	for i := range parts {
		parts[i].Quota.Project = ""
	}
	return parts
}

// usages contains the tests of the counts of a project's holdings.
var usages = map[string]func(*suite){
	"CountsClaimsRetainedBlocksAndPoolsWithinAScope": func(s *suite) {
		e := s.estate()
		red := storage.Key(e.other)
		theirs := s.space(e.other, "default")
		own4, own6 := s.root(theirs, "own-four", "10.0.0.0/8"), s.root(theirs, "own-six", "::/0")
		s.write(storage.Changes{SpaceInsert: []ipam.Space{theirs}})
		s.write(storage.Changes{PoolInsert: []ipam.Pool{own4}})
		s.write(storage.Changes{PoolInsert: []ipam.Pool{own6}})
		for _, p := range []ipam.Pool{s.child(own4, theirs, "kid-four", "10.1.0.0/16", true), s.child(own6, theirs, "kid-six", "2001::/16", true)} {
			s.write(storage.Changes{PoolInsert: []ipam.Pool{p}})
		}
		var ch storage.Changes
		add := func(p ipam.Project, pool ipam.Pool, name, block string, phase ipam.Phase) {
			c := s.claim(p, pool, name, block)
			if phase == ipam.PhaseBound {
				ch.ClaimInsert = append(ch.ClaimInsert, c)
				return
			}
			a := s.held(c)
			a.Phase = phase
			ch.AllocationInsert = append(ch.AllocationInsert, a)
		}
		add(e.other, e.v4, "a", "10.0.0.128/26", ipam.PhaseBound) // 64, from the pool of project blue
		add(e.other, e.v4, "b", "10.0.0.192/32", ipam.PhaseBound) // 1
		add(e.other, e.v4, "c", "10.0.0.200/29", ipam.PhaseRetained)
		add(e.other, own4, "d", "10.0.0.0/9", ipam.PhaseBound) // 2^23
		add(e.other, own6, "e", "::/0", ipam.PhaseBound)       // 2^128
		add(e.other, own6, "f", "1::/32", ipam.PhaseRetained)  // 2^96; IPv4 also has a /32
		add(e.project, e.v4, "mine", "10.0.0.208/32", ipam.PhaseBound)
		add(e.project, e.v4, "kept", "10.0.0.209/32", ipam.PhaseRetained)
		s.write(ch)
		sum := func(parts ...*big.Int) *big.Int {
			total := new(big.Int)
			for _, p := range parts {
				total.Add(total, p)
			}
			return total
		}
		n := big.NewInt
		for _, c := range []struct {
			who   storage.ProjectKey
			scope ipam.QuotaScope
			want  ipam.Usage
		}{
			{red, ipam.QuotaScope{}, ipam.Usage{Addresses: sum(n(64+1+8+1<<23), power(128), power(96)), Claims: 4, Pools: 4}},
			{red, ipam.QuotaScope{Family: ipam.IPv4}, ipam.Usage{Addresses: n(64 + 1 + 8 + 1<<23), Claims: 3, Pools: 2}},
			{red, ipam.QuotaScope{Family: ipam.IPv6}, ipam.Usage{Addresses: sum(power(128), power(96)), Claims: 1, Pools: 2}},
			{red, ipam.QuotaScope{Pool: e.v4.Ref()}, ipam.Usage{Addresses: n(73), Claims: 2}},
			{red, ipam.QuotaScope{Pool: e.v4.Ref(), Family: ipam.IPv6}, ipam.Usage{Addresses: n(0)}},
			{red, ipam.QuotaScope{Pool: own4.Ref()}, ipam.Usage{Addresses: n(1 << 23), Claims: 1, Pools: 1}},
			{red, ipam.QuotaScope{Pool: own6.Ref(), Family: ipam.IPv6}, ipam.Usage{Addresses: sum(power(128), power(96)), Claims: 1, Pools: 1}},
			{red, ipam.QuotaScope{Pool: ipam.Ref{Project: "green", Name: "own-four"}}, ipam.Usage{Addresses: n(0)}},
			{e.key, ipam.QuotaScope{}, ipam.Usage{Addresses: n(128 + 2), Claims: 2, Pools: 2}},
			{storage.ProjectKey{ID: ipam.NewID(), Name: "green"}, ipam.QuotaScope{}, ipam.Usage{Addresses: n(0)}},
		} {
			got, err := s.Store.UsageCount(s.ctx, c.who, c.scope)
			require.NoError(s, err)
			require.Zero(s, c.want.Addresses.Cmp(got.Addresses), "%s of %+v: %s", c.who.Name, c.scope, got.Addresses)
			c.want.Addresses = got.Addresses
			require.Equal(s, c.want, got, "%s of %+v", c.who.Name, c.scope)
		}
	},
}
