package storetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

var keys = map[string]func(*suite){
	"AllFieldsRoundTrip": func(s *suite) {
		e := s.estate()
		forever := s.key(e.project, "forever")
		forever.Spec.ExpiresAt, forever.LastUsedAt, forever.Labels, forever.Annotations = time.Time{}, time.Time{}, nil, nil
		s.write(storage.Changes{AccessChanges: storage.AccessChanges{KeyInsert: &forever}})
		everyFieldHasAValue(s, []ipam.APIKey{e.secret}, ".Metadata.Region")
		for _, k := range []ipam.APIKey{e.secret, forever} {
			reads(s, k)(s.Store.KeyGet(s.ctx, e.key, k.Name))
			got, ok, err := s.Keys.KeyByID(s.ctx, k.UID)
			require.NoError(s, err)
			require.True(s, ok)
			require.Equal(s, k, got)
		}
	},
	"UnknownIDFindsNoKey": func(s *suite) {
		e := s.estate()
		for _, id := range []ipam.ID{{}, ipam.NewID(), e.project.UID} {
			got, ok, err := s.Keys.KeyByID(s.ctx, id)
			require.NoError(s, err)
			require.False(s, ok)
			require.Zero(s, got)
		}
	},
	"ListOfAProjectIsByNameInPages": func(s *suite) {
		e := s.estate()
		s.write(storage.Changes{AccessChanges: storage.AccessChanges{KeyDelete: &e.secret}})
		for _, name := range names {
			for _, k := range []ipam.APIKey{s.key(e.project, name), s.key(e.other, name+"x")} {
				s.write(storage.Changes{AccessChanges: storage.AccessChanges{KeyInsert: &k}})
			}
		}
		inPages(s, "", func(after string, limit int) ([]ipam.APIKey, error) {
			return s.Store.KeyList(s.ctx, e.key, after, limit)
		}, func(k ipam.APIKey) string { return k.Name }, names)
	},
	"NameIsUniqueInAProject": func(s *suite) {
		e := s.estate()
		theirs := s.key(e.other, e.secret.Name)
		s.write(storage.Changes{AccessChanges: storage.AccessChanges{KeyInsert: &theirs}})
		again := s.key(e.project, e.secret.Name)
		s.changesNothing(func() {
			err := s.tryWrite(storage.Changes{AccessChanges: storage.AccessChanges{KeyInsert: &again}})
			require.True(s, ipam.IsCode(err, ipam.CodeAlreadyExists), "%v", err)
			require.Equal(s, "/metadata/name", pointer(s, err))
		})
	},
	"StalePlanIsRetried": func(s *suite) {
		e := s.estate()
		elsewhen, orphan := e.secret, s.key(s.project("nowhere"), "robot")
		elsewhen.Revision = ipam.NewID()
		s.staleRunsAgain(map[string]storage.Changes{
			"a deletion, another revision": {AccessChanges: storage.AccessChanges{KeyDelete: &elsewhen}},
			"its project is gone":          {AccessChanges: storage.AccessChanges{KeyInsert: &orphan}},
		})
	},
	"LastUseOfKeysNeverDecreases": func(s *suite) {
		e := s.estate()
		fresh := s.key(e.project, "fresh")
		fresh.LastUsedAt = time.Time{}
		s.write(storage.Changes{AccessChanges: storage.AccessChanges{KeyInsert: &fresh}})
		for _, step := range []struct{ robot, fresh, wantRobot, wantFresh int }{
			{2, 2, 2, 2}, // minutes after born; the last use of robot was after one
			{1, 3, 2, 3},
			{4, 1, 4, 3},
			{4, 3, 4, 3},
		} {
			at := func(minutes int) time.Time { return born.Add(time.Duration(minutes) * time.Minute) }
			require.NoError(s, s.Keys.KeysUsed(s.ctx, map[ipam.ID]time.Time{
				e.secret.UID: at(step.robot), fresh.UID: at(step.fresh), ipam.NewID(): at(9), // the last key does not exist
			}))
			e.secret.LastUsedAt, fresh.LastUsedAt = at(step.wantRobot), at(step.wantFresh)
			for _, k := range []ipam.APIKey{e.secret, fresh} {
				got, err := s.Store.KeyGet(s.ctx, e.key, k.Name)
				require.NoError(s, err)
				require.Equal(s, k, got, "nothing else is different, the revision neither")
			}
		}
		s.changesNothing(func() { require.NoError(s, s.Keys.KeysUsed(s.ctx, nil)) })
	},
	"ManyKeyUsesAreWrittenInOneStatement": func(s *suite) {
		e := s.estate()
		used := map[ipam.ID]time.Time{}
		for range 50 {
			k := s.key(e.project, "k-"+ipam.NewID().String())
			s.write(storage.Changes{AccessChanges: storage.AccessChanges{KeyInsert: &k}})
			used[k.UID] = born.Add(time.Duration(len(used)+2) * time.Minute)
		}
		require.NoError(s, s.Keys.KeysUsed(s.ctx, used))
		for id, want := range used {
			got, ok, err := s.Keys.KeyByID(s.ctx, id)
			require.NoError(s, err)
			require.True(s, ok)
			require.Equal(s, want, got.LastUsedAt)
		}
	},
}
