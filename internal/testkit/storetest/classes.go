package storetest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// class returns a class with a value in every field.
func (s *suite) class(p ipam.Project, name string) ipam.Class {
	c := ipam.Class{
		Metadata: s.meta(p.Name, name), ProjectID: p.UID,
		Spec: ipam.ClassSpec{
			Provisioner: ipam.ProvisionerNative, Family: ipam.IPv4, Strategy: ipam.Sparse,
			MinPrefixLength: new(26), MaxPrefixLength: new(32), DefaultPrefixLength: new(28),
			ReclaimPolicy: ipam.ReclaimRetain, Visibility: ipam.VisibilityShared, ReuseAfter: new(72 * time.Hour), ReuseAfterLost: new(96 * time.Hour),
			PoolSelection: ipam.PoolsLeastUtilized, UniqueWithin: ipam.UniqueWithinSpace, Parameters: map[string]string{"vlan": "7", "empty": ""}, Description: "Class " + name,
			PoolPer: []string{ipam.ScopeProject, "zone"}, PoolPrefixLength: new(26), EmptyPoolTTL: new(24 * time.Hour),
		},
	}
	c.Region = "" // a class lives in no region
	return c
}

// backing returns a pool that lists the classes.
func (s *suite) backing(p ipam.Pool, classes ...ipam.Class) ipam.Pool {
	p.Classes, p.Spec.ClassNames = nil, nil
	for _, c := range classes {
		p.Classes, p.Spec.ClassNames = append(p.Classes, c.AsRef()), append(p.Spec.ClassNames, c.Name)
	}
	return p
}

func (s *suite) insertClasses(list ...ipam.Class) {
	s.Helper()
	for _, c := range list {
		s.write(storage.Changes{ClassChanges: storage.ClassChanges{ClassInsert: &c}})
	}
}

// market is a world with a platform project and three classes. Two classes belong to the platform, and one belongs to the world's project. No pool
// lists the classes yet.
type market struct {
	world
	platform      ipam.Project
	platformSpace ipam.Space
	shared, owned ipam.Class // the platform's shared class, and the project's class
	hidden        ipam.Class // the platform's own
}

func (s *suite) market() market {
	s.Helper()
	m := market{world: s.world(), platform: s.project(ipam.PlatformProject)}
	m.platformSpace = s.space(m.platform, "default")
	s.write(storage.Changes{ProjectInsert: &m.platform, SpaceInsert: []ipam.Space{m.platformSpace}})
	m.shared, m.owned, m.hidden = s.class(m.platform, "fast"), s.class(m.project, "own"), s.class(m.platform, "hidden")
	m.owned.Spec.Visibility, m.hidden.Spec.Visibility = ipam.VisibilityConsumer, ipam.VisibilityPlatform
	s.insertClasses(m.shared, m.owned, m.hidden)
	return m
}

func classNames(list []ipam.Class) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.Ref().String())
	}
	return out
}

var classes = map[string]func(*suite){
	"AllFieldsRoundTrip": func(s *suite) {
		w := s.world()
		full, plain := s.class(w.project, "full"), s.class(w.project, "plain")
		full.Spec.IsDefault = true
		plain.Labels, plain.Annotations = nil, nil
		plain.Spec = ipam.ClassSpec{Provisioner: ipam.ProvisionerNative, Family: ipam.IPv6, Visibility: ipam.VisibilityConsumer}
		everyFieldHasAValue(s, []ipam.Class{full}, ".Metadata.Region", ".Status", ".Status.BackingPools", ".Status.ScopedPools",
			".Status.Total", ".Status.Available", ".Status.LargestFree") // counted at each read
		s.insertClasses(full, plain)
		for _, c := range []ipam.Class{full, plain} {
			reads(s, c)(s.Store.ClassGet(s.ctx, w.key, c.Name))
		}
		reads(s, full)(s.Store.ClassDefault(s.ctx, w.key, ipam.IPv4))
	},
	"UpdateReplacesMutableFields": func(s *suite) {
		w := s.world()
		c := s.class(w.project, "fast")
		s.insertClasses(c)
		now := c
		now.Metadata = updated(now.Metadata)
		now.Spec.IsDefault, now.Spec.Visibility, now.Spec.Strategy = true, ipam.VisibilityConsumer, ""
		s.write(storage.Changes{ClassChanges: storage.ClassChanges{ClassUpdate: []storage.ClassUpdate{{Was: c.Revision, Now: now}}}})
		reads(s, now)(s.Store.ClassGet(s.ctx, w.key, c.Name))
	},
	"DefaultMovesInOneWrite": func(s *suite) {
		w := s.world()
		was, next := s.class(w.project, "was"), s.class(w.project, "next")
		was.Spec.IsDefault = true
		s.insertClasses(was, next)
		off, on := was, next
		off.Spec.IsDefault, off.Revision, on.Spec.IsDefault, on.Revision = false, ipam.NewID(), true, ipam.NewID()
		s.write(storage.Changes{ClassChanges: storage.ClassChanges{ClassUpdate: []storage.ClassUpdate{{Was: was.Revision, Now: off}, {Was: next.Revision, Now: on}}}})
		reads(s, on)(s.Store.ClassDefault(s.ctx, w.key, ipam.IPv4))
		third, former := s.class(w.project, "third"), on
		third.Spec.IsDefault, former.Spec.IsDefault, former.Revision = true, false, ipam.NewID()
		s.write(storage.Changes{ClassChanges: storage.ClassChanges{ClassInsert: &third, ClassUpdate: []storage.ClassUpdate{{Was: on.Revision, Now: former}}}})
		got, err := s.Store.ClassDefault(s.ctx, w.key, ipam.IPv4)
		require.NoError(s, err)
		require.Equal(s, third, got, "a new one takes it over likewise")
	},
	"NameAndFamilyDefaultAreUniqueInAProject": func(s *suite) {
		m := s.market()
		same := s.class(m.project, "own")
		first, second := s.class(m.project, "a"), s.class(m.project, "b")
		first.Spec.IsDefault, second.Spec.IsDefault = true, true
		six := second
		six.UID, six.Name, six.Spec.Family = ipam.NewID(), "six", ipam.IPv6
		theirs := s.class(m.platform, "own")
		theirs.Spec.IsDefault = true
		s.insertClasses(first, six, theirs)
		s.changesNothing(func() {
			for _, c := range []ipam.Class{same, second} {
				err := s.tryWrite(storage.Changes{ClassChanges: storage.ClassChanges{ClassInsert: &c}})
				require.True(s, ipam.IsCode(err, ipam.CodeAlreadyExists), "%s: %v", c.Name, err)
			}
			now := m.owned
			now.Spec.IsDefault = true
			err := s.tryWrite(storage.Changes{ClassChanges: storage.ClassChanges{ClassUpdate: []storage.ClassUpdate{{Was: now.Revision, Now: now}}}})
			require.True(s, ipam.IsCode(err, ipam.CodeAlreadyExists), "%v", err)
		})
	},
	"DeletedWithItsProject": func(s *suite) {
		p, other := s.project("green"), s.project("red")
		s.write(storage.Changes{ProjectInsert: &p})
		s.write(storage.Changes{ProjectInsert: &other})
		mine, theirs := s.class(p, "fast"), s.class(other, "fast")
		s.insertClasses(mine, theirs)
		s.write(storage.Changes{ProjectDelete: &p})
		left, err := s.Store.ClassGet(s.ctx, storage.Key(other), "fast")
		require.NoError(s, err)
		require.Equal(s, theirs, left)
		_, err = s.Store.ClassGet(s.ctx, storage.Key(p), "fast")
		require.True(s, ipam.IsCode(err, ipam.CodeNotFound), "%v", err)
	},
	"StalePlanIsRetried": func(s *suite) {
		m := s.market()
		elsewhen := m.owned
		elsewhen.Revision = ipam.NewID()
		gone := s.class(m.project, "gone")
		listing := s.backing(s.root(m.space, "listing", "10.9.0.0/24"), gone)
		updated := s.backing(m.v4, gone)
		orphan := s.class(s.project("nowhere"), "orphan")
		kid := s.scoped(m.v4, m.space, m.owned, m.project, map[string]string{"zone": "a"}, "10.0.0.128/26")
		s.write(storage.Changes{PoolInsert: []ipam.Pool{kid}})
		twin := kid
		twin.UID, twin.Block = ipam.NewID(), cidr("10.0.0.192/26")
		twin.ContainerID = m.v4.UID
		unscoped := s.scoped(m.v4, m.space, gone, m.project, map[string]string{"zone": "b"}, "10.0.0.192/26")
		other := s.backing(s.root(m.space, "other", "10.8.0.0/24"), m.owned)
		s.write(storage.Changes{PoolInsert: []ipam.Pool{other}})
		s.staleRunsAgain(map[string]storage.Changes{
			"its project is gone":             {ClassChanges: storage.ClassChanges{ClassInsert: &orphan}},
			"an update, another revision":     {ClassChanges: storage.ClassChanges{ClassUpdate: []storage.ClassUpdate{{Was: elsewhen.Revision, Now: m.owned}}}},
			"a deletion, another revision":    {ClassChanges: storage.ClassChanges{ClassDelete: &elsewhen}},
			"a deletion, a pool lists it":     {ClassChanges: storage.ClassChanges{ClassDelete: &m.owned}},
			"a new pool of a class gone":      {PoolInsert: []ipam.Pool{listing}},
			"a pool that lists a class gone":  {PoolUpdate: &storage.PoolUpdate{Was: m.v4.Revision, Now: updated}},
			"a scope that has a pool by now":  {PoolInsert: []ipam.Pool{twin}},
			"a scope of a class that is gone": {PoolInsert: []ipam.Pool{unscoped}},
			"a mark, another time":            {ClassChanges: storage.ClassChanges{ScopedMarks: []storage.ScopedMark{{PoolID: kid.UID, Was: born, Now: born.Add(time.Hour)}}}},
			"a mark on none":                  {ClassChanges: storage.ClassChanges{ScopedMarks: []storage.ScopedMark{{PoolID: ipam.NewID(), Now: born}}}},
		})
	},
	"ClassWithAScopedPoolIsNotDeleted": func(s *suite) {
		m := s.market()
		kid := s.scoped(m.v4, m.space, m.owned, m.project, nil, "10.0.0.128/26")
		s.write(storage.Changes{PoolInsert: []ipam.Pool{kid}})
		s.staleRunsAgain(map[string]storage.Changes{"deleted": {ClassChanges: storage.ClassChanges{ClassDelete: &m.owned}}})
		s.write(storage.Changes{PoolDelete: &kid, ClassChanges: storage.ClassChanges{ClassDelete: &m.owned}})
	},
	// If a claim's class is deleted between the look-up and the write, the write fails with a Conflict that names the claim. The caller must then
	// look up the class again. If the project is deleted, the result is the same.
	"ClaimByADeletedClassIsAConflict": func(s *suite) {
		m := s.market()
		served, lost := s.claim(m.project, m.v4, "served", "10.0.0.200/32"), s.claim(m.project, m.v4, "lost", "10.0.0.201/32")
		served.Class = m.owned.AsRef()
		lost.Class = s.class(m.project, "gone").AsRef()
		s.conflict(storage.Changes{ClaimInsert: []ipam.Claim{served, lost}}, storage.Conflict{ClaimRefs: []storage.NameRef{{ProjectID: m.project.UID, Name: "lost"}}})
		s.write(storage.Changes{ClaimInsert: []ipam.Claim{served}})
	},
	"TransactionReadsTheSameRows": func(s *suite) {
		m := s.market()
		require.NoError(s, s.Store.InTx(s.ctx, "storetest_read", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
			c, err := tx.ClassGet(ctx, m.key, "own")
			require.NoError(s, err)
			require.Equal(s, m.owned, c)
			all, err := tx.ClassList(ctx, m.key)
			require.Equal(s, []ipam.Class{m.shared, m.owned}, all)
			return err
		}))
	},
}
