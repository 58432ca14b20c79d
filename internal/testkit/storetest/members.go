package storetest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// subjects are sorted by their bytes. Each database must return them in this order.
var subjects = []string{"+a", "-a", ".", "0", ":", "=", "@", "A", "Z", "_", "a", "a:b", "aa", "|"}

var members = map[string]func(*suite){
	"AllFieldsRoundTrip": func(s *suite) {
		e := s.estate()
		everyFieldHasAValue(s, []ipam.Member{e.member}, notBare...)
		reads(s, e.member)(s.Store.MemberGet(s.ctx, e.key, e.member.Name))
	},
	"UpdateReplacesTheRole": func(s *suite) {
		e := s.estate()
		now := e.member
		now.Metadata = updated(now.Metadata)
		now.Labels, now.Spec.Role = nil, "viewer"
		s.write(storage.Changes{AccessChanges: storage.AccessChanges{MemberUpdate: &storage.MemberUpdate{Was: e.member.Revision, Now: now}}})
		reads(s, now)(s.Store.MemberGet(s.ctx, e.key, now.Name))
	},
	"ListOfAProjectIsBySubjectInPages": func(s *suite) {
		e := s.estate()
		s.write(storage.Changes{AccessChanges: storage.AccessChanges{MemberDelete: &e.member}})
		for _, subject := range subjects {
			for _, m := range []ipam.Member{s.member(e.project, subject, "viewer"), s.member(e.other, subject+"x", "viewer")} {
				s.write(storage.Changes{AccessChanges: storage.AccessChanges{MemberInsert: &m}})
			}
		}
		inPages(s, "", func(after string, limit int) ([]ipam.Member, error) {
			return s.Store.MemberList(s.ctx, e.key, after, limit)
		}, func(m ipam.Member) string { return m.Name }, subjects)
	},
	"RolesOfASubjectAreByProject": func(s *suite) {
		e := s.estate()
		there := s.member(e.other, "corp:alice", "viewer")
		another := s.member(e.other, "corp:alic", "provider")
		s.write(storage.Changes{AccessChanges: storage.AccessChanges{MemberInsert: &there}})
		s.write(storage.Changes{AccessChanges: storage.AccessChanges{MemberInsert: &another}})
		for subject, want := range map[string]map[string]tenancy.Held{
			"corp:alice": {"blue": {Project: e.key.ID, Role: tenancy.Admin}, "red": {Project: e.other.UID, Role: tenancy.Viewer}}, "corp:alic": {"red": {Project: e.other.UID, Role: tenancy.Provider}}, "corp:ALICE": {}, "": {},
		} {
			got, err := s.Keys.MemberRoles(s.ctx, subject)
			require.NoError(s, err)
			require.Equal(s, want, got, subject)
		}
	},
	"AdminsAreMembersAndKeysThatNeverExpire": func(s *suite) {
		e := s.estate()
		count := func(want int64) {
			s.Helper()
			reads(s, want)(s.Store.AdminCount(s.ctx, e.project.UID))
		}
		count(1)
		for _, role := range []string{"viewer", "consumer", "provider"} {
			m, k := s.member(e.project, "corp:"+role, role), s.key(e.project, role)
			k.Spec.Role, k.Spec.ExpiresAt = role, time.Time{}
			s.write(storage.Changes{AccessChanges: storage.AccessChanges{MemberInsert: &m, KeyInsert: &k}})
		}
		count(1)
		expires, stays := s.key(e.project, "expires"), s.key(e.project, "stays")
		expires.Spec.Role, stays.Spec.Role, stays.Spec.ExpiresAt = "admin", "admin", time.Time{}
		s.write(storage.Changes{AccessChanges: storage.AccessChanges{KeyInsert: &expires}})
		count(1)
		s.write(storage.Changes{AccessChanges: storage.AccessChanges{KeyInsert: &stays}})
		count(2)
		theirs := s.member(e.other, "corp:bob", "admin")
		s.write(storage.Changes{AccessChanges: storage.AccessChanges{MemberInsert: &theirs, MemberDelete: &e.member}})
		count(1)
	},
	"StalePlanIsRetried": func(s *suite) {
		e := s.estate()
		elsewhen := e.member
		elsewhen.Revision = ipam.NewID()
		again, orphan := s.member(e.project, e.member.Name, "viewer"), s.member(s.project("nowhere"), "corp:bob", "viewer")
		s.staleRunsAgain(map[string]storage.Changes{
			"made by now":                  {AccessChanges: storage.AccessChanges{MemberInsert: &again}},
			"its project is gone":          {AccessChanges: storage.AccessChanges{MemberInsert: &orphan}},
			"an update, another revision":  {AccessChanges: storage.AccessChanges{MemberUpdate: &storage.MemberUpdate{Was: elsewhen.Revision, Now: e.member}}},
			"a deletion, another revision": {AccessChanges: storage.AccessChanges{MemberDelete: &elsewhen}},
		})
	},
	"MemberIsCreatedOnce": func(s *suite) {
		e := s.estate()
		put := func(role string) func(context.Context, storage.Tx, func()) error {
			m := s.member(e.project, "corp:carol", role)
			return func(ctx context.Context, tx storage.Tx, read func()) error {
				was, err := tx.MemberGet(ctx, e.key, m.Name)
				if err != nil && !ipam.IsCode(err, ipam.CodeNotFound) {
					return err
				}
				found := err == nil
				read()
				if found {
					return tx.Write(ctx, storage.Changes{AccessChanges: storage.AccessChanges{MemberUpdate: &storage.MemberUpdate{Was: was.Revision, Now: m}}})
				}
				return tx.Write(ctx, storage.Changes{AccessChanges: storage.AccessChanges{MemberInsert: &m}})
			}
		}
		s.firstThenSecond(put("viewer"), put("provider"))
		got, err := s.Store.MemberGet(s.ctx, e.key, "corp:carol")
		require.NoError(s, err)
		require.Equal(s, "provider", got.Spec.Role, "the second has replaced what the first made")
	},
	"ProjectIsDeletedWithItsOwnRows": func(s *suite) {
		e := s.estate()
		red := storage.Key(e.other)
		for _, subject := range subjects {
			m := s.member(e.other, subject, "viewer")
			k := s.key(e.other, "k-"+ipam.NewID().String())
			q, shards := s.quota(e.other, "q-"+ipam.NewID().String())
			s.write(storage.Changes{
				AccessChanges: storage.AccessChanges{MemberInsert: &m, KeyInsert: &k}, QuotaChanges: storage.QuotaChanges{QuotaInsert: &q, ShardInsert: shards},
			})
		}
		before := s.Dump(s)
		s.write(storage.Changes{ProjectDelete: &e.other, AccessChanges: storage.AccessChanges{AccessDelete: &e.other}})
		after := s.Dump(s)
		n := len(subjects)
		for table, gone := range map[string]int{"members": n, "api_keys": n, "quotas": n, "quota_shards": n * ipam.QuotaShards, "projects": 1, "removals": -1, "grants": 1} {
			require.Len(s, after[table], len(before[table])-gone, table)
		}
		_, err := s.Store.MemberGet(s.ctx, e.key, e.member.Name)
		require.NoError(s, err, "others keep theirs")
		list, err := s.Store.MemberList(s.ctx, red, "", 100)
		require.NoError(s, err)
		require.Empty(s, list)
	},
}
