package storetest

import (
	"context"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

var grants = map[string]func(*suite){
	"AllFieldsRoundTrip": func(s *suite) {
		e := s.estate()
		all := ipam.Grant{Metadata: s.bare("blue", ipam.Everybody), Kind: ipam.GrantOfSpace, SubjectID: e.space.UID}
		s.grant(all)
		everyFieldHasAValue(s, []ipam.Grant{e.grant, all}, notBare...)
		for _, c := range []struct {
			of   storage.GrantSubject
			want ipam.Grant
		}{{poolSubject(e.v4), e.grant}, {storage.GrantSubject{Kind: ipam.GrantOfSpace, ID: e.space.UID}, all}} {
			reads(s, c.want)(s.Store.GrantGet(s.ctx, e.key, c.of, c.want.Name))
		}
		_, err := s.Store.GrantGet(s.ctx, e.key, poolSubject(e.v4), ipam.Everybody)
		require.True(s, ipam.IsCode(err, ipam.CodeNotFound), "%v", err)
	},
	"ListOfAPoolIsByConsumerInPages": func(s *suite) {
		e := s.estate()
		s.write(storage.Changes{AccessChanges: storage.AccessChanges{GrantDelete: &e.grant}})
		want := slices.Concat([]string{ipam.Everybody}, names)
		for _, name := range want {
			s.grant(s.grantOf(e.v4, name))
			s.grant(s.grantOf(e.v6, name+"x"))
		}
		inPages(s, "", func(after string, limit int) ([]ipam.Grant, error) {
			return s.Store.GrantList(s.ctx, e.key, poolSubject(e.v4), after, limit)
		}, func(g ipam.Grant) string { return g.Name }, want)
	},
	"GrantAppliesByNameOrToAll": func(s *suite) {
		e := s.estate()
		check := func(of ipam.Pool, consumer string, want bool) {
			s.Helper()
			reads(s, want)(s.Store.Granted(s.ctx, poolSubject(of), consumer))
		}
		check(e.v4, "red", true)
		check(e.v4, "green", false)
		check(e.v6, "red", false)
		s.grant(s.grantOf(e.v6, ipam.Everybody))
		check(e.v6, "red", true)
		check(e.v6, "green", true)
		check(e.v4, "green", false)
		s.write(storage.Changes{AccessChanges: storage.AccessChanges{GrantDelete: &e.grant}})
		check(e.v4, "red", false)
	},
	"GrantsOfAPoolAreDeletedTogether": func(s *suite) {
		e := s.estate()
		for _, name := range names {
			s.grant(s.grantOf(e.v4, name))
		}
		s.grant(s.grantOf(e.v6, "red"))
		s.write(storage.Changes{AccessChanges: storage.AccessChanges{GrantsDelete: new(poolSubject(e.v4))}})
		left, err := s.Store.GrantList(s.ctx, e.key, poolSubject(e.v4), "", 100)
		require.NoError(s, err)
		require.Empty(s, left)
		left, err = s.Store.GrantList(s.ctx, e.key, poolSubject(e.v6), "", 100)
		require.NoError(s, err)
		require.Len(s, left, 1)
		s.write(storage.Changes{AccessChanges: storage.AccessChanges{GrantsDelete: new(poolSubject(e.v4))}}) // no grants is no conflict
	},
	"GrantedPoolsAreSharedPoolsOfTheOwnerOnce": func(s *suite) {
		e := s.estate()
		list := func(labels map[string]string) (out []string) {
			s.Helper()
			found, err := s.Store.PoolListGranted(s.ctx, "blue", "red", labels, "", 10)
			require.NoError(s, err)
			for _, p := range found {
				require.Equal(s, "blue", p.Project)
				out = append(out, p.Name)
			}
			slices.Sort(out)
			return out
		}
		require.Equal(s, []string{"four"}, list(nil))
		s.grant(s.grantOf(e.v4, ipam.Everybody)) // granted twice
		s.grant(s.grantOf(e.v6, ipam.Everybody))
		require.Equal(s, []string{"four", "six"}, list(nil))
		theirs := s.space(e.other, "default")
		own := s.root(theirs, "own", "10.7.0.0/24")
		s.write(storage.Changes{SpaceInsert: []ipam.Space{theirs}})
		s.write(storage.Changes{PoolInsert: []ipam.Pool{own}})
		s.grant(s.grantOf(own, ipam.Everybody))
		require.Equal(s, []string{"four", "six"}, list(nil), "of one owner alone")
		require.Equal(s, []string{"four", "six"}, list(map[string]string{"team": "blue"}))
		require.Empty(s, list(map[string]string{"team": "green"}))
		closed := e.v6
		closed.Revision, closed.Spec.Visibility, closed.Labels = ipam.NewID(), ipam.VisibilityConsumer, nil
		s.write(storage.Changes{PoolUpdate: &storage.PoolUpdate{Was: e.v6.Revision, Now: closed}})
		require.Equal(s, []string{"four"}, list(nil), "granted, and not shared")
	},
	"GrantedPoolsAreListedByNameInPages": func(s *suite) {
		e := s.estate()
		want := []string{e.v4.Name}
		for i := range uint64(7) {
			p := s.root(e.space, "g"+string(rune('0'+i)), nth("10.1.0.0/16", 24, i))
			s.write(storage.Changes{PoolInsert: []ipam.Pool{p}, AccessChanges: storage.AccessChanges{GrantInsert: new(s.grantOf(p, []string{"red", ipam.Everybody, "green"}[i%3]))}})
			if i%3 < 2 {
				want = append(want, p.Name)
			}
		}
		slices.Sort(want)
		inPages(s, "", func(after string, limit int) ([]ipam.Pool, error) {
			return s.Store.PoolListGranted(s.ctx, "blue", "red", map[string]string{"team": "blue"}, after, limit)
		}, func(p ipam.Pool) string { return p.Name }, want)
	},
	"LookupFindsAGrantedForeignPool": func(s *suite) {
		e := s.estate()
		third := storage.ProjectKey{ID: ipam.NewID(), Name: "green"}
		look := func(who storage.ProjectKey, pool ipam.Ref, want storage.ClaimFacts) {
			s.Helper()
			reads(s, want)(s.Store.ClaimLookup(s.ctx, storage.ClaimQuery{Project: who, Name: "none", Pool: pool, Now: born}))
		}
		look(storage.Key(e.other), e.v4.Ref(), storage.ClaimFacts{Pool: &e.v4, Granted: true})
		look(storage.Key(e.other), e.v6.Ref(), storage.ClaimFacts{})
		look(third, e.v4.Ref(), storage.ClaimFacts{})
		look(storage.Key(e.other), ipam.Ref{Project: "blue", Name: "none"}, storage.ClaimFacts{})
		look(storage.Key(e.other), ipam.Ref{Project: "none", Name: "four"}, storage.ClaimFacts{})
		look(storage.Key(e.other), ipam.Ref{Project: "red", Name: "four"}, storage.ClaimFacts{})
		s.grant(s.grantOf(e.v4, ipam.Everybody))
		look(third, e.v4.Ref(), storage.ClaimFacts{Pool: &e.v4, Granted: true})
		look(storage.Key(e.other), e.v4.Ref(), storage.ClaimFacts{Pool: &e.v4, Granted: true})
		look(e.key, e.v4.Ref(), storage.ClaimFacts{Pool: &e.v4})
	},
	"GroupReadsTheGrants": func(s *suite) {
		e := s.estate()
		read := func(consumers []string, want map[string]bool) {
			s.Helper()
			require.NoError(s, s.Store.InTx(s.ctx, "storetest_read", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
				got, err := tx.GroupRead(ctx, e.c4, freespace.ReadsFor(e.c4.Block, []freespace.BlockRequest{{Bits: 30}}), storage.GroupQuery{Consumers: consumers})
				require.NoError(s, err)
				require.Equal(s, e.v4, got.Pool)
				require.Equal(s, []string{"10.0.0.128/25"}, distinct(got.Free))
				require.Equal(s, want, got.Granted)
				return err
			}))
		}
		read(nil, nil)
		read([]string{"green", "red"}, map[string]bool{"red": true})
		s.grant(s.grantOf(e.v4, ipam.Everybody))
		read([]string{"green", "red"}, map[string]bool{"red": true, "green": true})
	},
	"StalePlanIsRetried": func(s *suite) {
		e := s.estate()
		elsewhen, again := e.grant, s.grantOf(e.v4, e.grant.Name)
		elsewhen.Revision = ipam.NewID()
		s.staleRunsAgain(map[string]storage.Changes{
			"made by now":                  {AccessChanges: storage.AccessChanges{GrantInsert: &again}},
			"a deletion, another revision": {AccessChanges: storage.AccessChanges{GrantDelete: &elsewhen}},
		})
	},
}

func (s *suite) grant(g ipam.Grant) {
	s.Helper()
	s.write(storage.Changes{AccessChanges: storage.AccessChanges{GrantInsert: &g}})
}
