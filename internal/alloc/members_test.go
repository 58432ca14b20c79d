package alloc_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func TestPutCreatesAndReplacesAMember(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const alice = "corp:alice@example.com"
	made, err := b.PutMember(b.ctx, project, member(alice, tenancy.Viewer), usecase.Request{})
	require.NoError(t, err)
	require.False(t, made.Existed)
	require.Equal(t, alice, made.Value.Name)
	require.Equal(t, project, made.Value.Project)
	require.EqualValues(t, 1, made.Value.Generation)
	require.Equal(t, "tester", made.Value.CreatedBy)
	read, err := b.GetMember(b.ctx, project, alice)
	require.NoError(t, err)
	require.Equal(t, made.Value, read)

	b.clock.move(time.Minute)
	before := b.dump(t)
	again, err := b.PutMember(b.ctx, project, member(alice, tenancy.Viewer), usecase.Request{})
	require.NoError(t, err)
	require.True(t, again.Existed)
	require.Equal(t, read, again.Value)
	require.Equal(t, before, b.dump(t), "the role that she has: nothing is written")

	now, err := b.PutMember(b.ctx, project, member(alice, tenancy.Provider), usecase.Request{})
	require.NoError(t, err)
	require.True(t, now.Existed)
	require.Equal(t, read.UID, now.Value.UID)
	require.NotEqual(t, read.Revision, now.Value.Revision)
	require.Equal(t, []any{int64(2), read.CreatedAt, b.clock.read(), "provider"},
		[]any{now.Value.Generation, now.Value.CreatedAt, now.Value.UpdatedAt, now.Value.Spec.Role})
	read, err = b.GetMember(b.ctx, project, alice)
	require.NoError(t, err)
	require.Equal(t, now.Value, read)

	_, err = b.GetMember(b.ctx, ipam.PlatformProject, alice)
	refused(t, err, ipam.CodeNotFound)
	require.NoError(t, b.DeleteMember(b.ctx, project, alice, usecase.Request{}))
	_, err = b.GetMember(b.ctx, project, alice)
	refused(t, err, ipam.CodeNotFound)
	refused(t, b.DeleteMember(b.ctx, project, alice, usecase.Request{}), ipam.CodeNotFound)
}

func TestInvalidMemberIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := b.dump(t)
	for _, c := range []struct{ name, subject, role, pointer string }{
		{"NoRole", "corp:alice", "", "/spec/role"},
		{"AnotherRole", "corp:alice", "owner", "/spec/role"},
		{"RoleInUpperCase", "corp:alice", "Admin", "/spec/role"},
		{"NoSubject", "", "viewer", "path:subject"},
		{"SubjectWithASpace", "alice smith", "viewer", "path:subject"},
		{"SubjectWithASlash", "key:acme/ci", "viewer", "path:subject"},
		{"SubjectWithNUL", "alice\x00", "viewer", "path:subject"},
		{"SubjectInAnotherScript", "ålice", "viewer", "path:subject"},
		{"SubjectWithoutAnIssuer", "alice", "viewer", "path:subject"},
		{"SubjectWithoutAName", "corp:", "viewer", "path:subject"},
		{"SubjectOfNoIssuer", ":alice", "viewer", "path:subject"},
		{"SubjectThatIsAKey", "key:acme", "viewer", "path:subject"},
		{"SubjectTooLong", strings.Repeat("a", 256), "viewer", "path:subject"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := b.PutMember(b.ctx, project, member(c.subject, tenancy.Role(c.role)), usecase.Request{})
			require.Equal(t, c.pointer, refused(t, err, ipam.CodeInvalidArgument).Fields[0].Pointer)
		})
	}
	require.Equal(t, before, b.dump(t))
	b.join(t, project, "corp:"+strings.Repeat("a", 250), tenancy.Viewer)
}

func TestPutWithIfMatchNeedsAnExistingMember(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.PutMember(b.ctx, project, member("corp:alice", tenancy.Viewer), ifAny)
	refused(t, err, ipam.CodePreconditionFailed)
	_, err = b.PutMember(b.ctx, project, member("corp:alice", tenancy.Viewer), ifMatch(ipam.NewID()))
	refused(t, err, ipam.CodePreconditionFailed)
	made := b.join(t, project, "corp:alice", tenancy.Viewer)
	_, err = b.PutMember(b.ctx, project, member("corp:alice", tenancy.Consumer), ifMatch(ipam.NewID()))
	require.Equal(t, made.Revision.String(), refused(t, err, ipam.CodePreconditionFailed).Figures.CurrentRevision)
	_, err = b.PutMember(b.ctx, project, member("corp:alice", tenancy.Consumer), ifMatch(made.Revision))
	require.NoError(t, err)
	refused(t, b.DeleteMember(b.ctx, project, "corp:alice", ifMatch(made.Revision)), ipam.CodePreconditionFailed)
	require.NoError(t, b.DeleteMember(b.ctx, project, "corp:alice", ifAny))
}

func TestMembersAreListedBySubject(t *testing.T) {
	t.Parallel()
	b := setup(t)
	want := []string{"corp:alice@example.com", "corp:bob+x=y|z", "A.B:C-D", "zz:z"}
	for _, s := range want {
		b.join(t, project, s, tenancy.Viewer)
	}
	b.join(t, ipam.PlatformProject, "corp:elsewhere", tenancy.Viewer)
	slices.Sort(want)
	for _, limit := range []int{1, 2, 100} {
		var got []string
		for _, m := range all(t, limit, func(n int, c string) (paging.Page[ipam.Member], error) {
			return b.ListMembers(b.ctx, project, n, c, usecase.Reading{})
		}) {
			got = append(got, m.Name)
		}
		require.Equal(t, want, got, "whatever the database's collation")
	}
	for _, cursor := range []string{"x", alloc.SealCursor("members", "a b"), alloc.SealCursor("keys", "a"), alloc.SealCursor("members", map[string]int{})} {
		_, err := b.ListMembers(b.ctx, project, 10, cursor, usecase.Reading{})
		refused(t, err, ipam.CodeInvalidArgument)
	}
}

func TestLastPlatformAdminCannotBeRemoved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	in := ipam.PlatformProject
	b.join(t, in, "corp:alice", tenancy.Admin)
	b.join(t, in, "corp:bob", tenancy.Provider)
	b.join(t, project, "corp:carol", tenancy.Admin)
	soon := apiKey("soon", tenancy.Admin)
	soon.Spec.ExpiresAt = b.clock.read().Add(time.Hour)
	b.mint(t, in, soon)
	before := b.dump(t)
	demote := func(r usecase.Request) error {
		_, err := b.PutMember(b.ctx, in, member("corp:alice", tenancy.Provider), r)
		return err
	}
	for _, r := range []usecase.Request{{}, dry, ifAny} {
		refused(t, demote(r), ipam.CodeLastAdmin)
		refused(t, b.DeleteMember(b.ctx, in, "corp:alice", r), ipam.CodeLastAdmin)
	}
	require.Equal(t, before, b.dump(t))
	require.NoError(t, b.DeleteMember(b.ctx, in, "corp:bob", usecase.Request{}), "is no admin")
	require.NoError(t, b.DeleteKey(b.ctx, in, "soon", usecase.Request{}), "would not have stayed one")
	require.NoError(t, b.DeleteMember(b.ctx, project, "corp:carol", usecase.Request{}), "other projects may be without")

	b.mint(t, in, apiKey("root", tenancy.Admin))
	require.NoError(t, demote(usecase.Request{}))
	refused(t, b.DeleteKey(b.ctx, in, "root", usecase.Request{}), ipam.CodeLastAdmin)
	b.join(t, in, "corp:alice", tenancy.Admin)
	require.NoError(t, b.DeleteKey(b.ctx, in, "root", usecase.Request{}))
	refused(t, b.DeleteMember(b.ctx, in, "corp:alice", usecase.Request{}), ipam.CodeLastAdmin)
}

// Two concurrent removals each count two admins. Each of them alone would leave one admin, but both together would leave none. So one of them must
// fail.
func TestConcurrentRemovalOfTwoAdminsKeepsOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	in := ipam.PlatformProject
	for name, ops := range map[string][2]struct {
		op  string
		run func(*alloc.Service) error
	}{
		"TwoMembers": {
			{"member_delete", func(s *alloc.Service) error { return s.DeleteMember(b.ctx, in, "corp:alice", usecase.Request{}) }},
			{"member_delete", func(s *alloc.Service) error { return s.DeleteMember(b.ctx, in, "corp:bob", usecase.Request{}) }},
		},
		"AMemberAndADemotion": {
			{"member_delete", func(s *alloc.Service) error { return s.DeleteMember(b.ctx, in, "corp:alice", usecase.Request{}) }},
			{"member_put", func(s *alloc.Service) error {
				_, err := s.PutMember(b.ctx, in, member("corp:bob", tenancy.Viewer), usecase.Request{})
				return err
			}},
		},
		"AMemberAndAKey": {
			{"member_delete", func(s *alloc.Service) error { return s.DeleteMember(b.ctx, in, "corp:alice", usecase.Request{}) }},
			{"key_delete", func(s *alloc.Service) error { return s.DeleteKey(b.ctx, in, "root", usecase.Request{}) }},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b.join(t, in, "corp:alice", tenancy.Admin)
			if name == "AMemberAndAKey" {
				b.mint(t, in, apiKey("root", tenancy.Admin))
				require.NoError(t, ignoreCode(b.DeleteMember(b.ctx, in, "corp:bob", usecase.Request{}), ipam.CodeNotFound))
			} else {
				b.join(t, in, "corp:bob", tenancy.Admin)
				require.NoError(t, ignoreCode(b.DeleteKey(b.ctx, in, "root", usecase.Request{}), ipam.CodeNotFound))
			}
			errs := b.crossed(t, ops[0].op, ops[0].run, ops[1].op, ops[1].run)
			if errs[0] == nil {
				refused(t, errs[1], ipam.CodeLastAdmin)
			} else {
				refused(t, errs[0], ipam.CodeLastAdmin)
				require.NoError(t, errs[1])
			}
			store, _ := b.store(t)
			platform, err := store.ProjectGet(b.ctx, in)
			require.NoError(t, err)
			left, err := store.AdminCount(b.ctx, platform.UID)
			require.NoError(t, err)
			require.EqualValues(t, 1, left)
		})
	}
}

// crossed runs two use cases on two servers. Both read before one of them writes.
func (b *bundle) crossed(t *testing.T, opA string, a func(*alloc.Service) error, opB string, c func(*alloc.Service) error) [2]error {
	t.Helper()
	var met sync.WaitGroup
	met.Add(2)
	var errs [2]error
	var done sync.WaitGroup
	for i, each := range []struct {
		op  string
		run func(*alloc.Service) error
	}{{opA, a}, {opB, c}} {
		store, _ := b.store(t)
		s := b.serve(&meeting{Store: store, op: each.op, met: &met})
		done.Go(func() { errs[i] = each.run(s) })
	}
	done.Wait()
	return errs
}

// meeting is a store that stops its first transaction of an operation before the write. The transaction continues when the other store's transaction
// has reached the same point.
type meeting struct {
	storage.Store
	op   string
	met  *sync.WaitGroup
	once sync.Once
}

func (m *meeting) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	return m.Store.InTx(ctx, op, locks, func(ctx context.Context, tx storage.Tx) error {
		if op == m.op {
			tx = meetingTx{tx, m}
		}
		return fn(ctx, tx)
	})
}

type meetingTx struct {
	storage.Tx
	m *meeting
}

func (tx meetingTx) Write(ctx context.Context, ch storage.Changes) error {
	tx.m.once.Do(func() { tx.m.met.Done(); tx.m.met.Wait() })
	return tx.Tx.Write(ctx, ch)
}

func TestConcurrentPutsCreateAMemberOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var wg sync.WaitGroup
	const n = 16
	results, errs := make([]usecase.Result[ipam.Member], n), make([]error, n)
	for i := range n {
		wg.Go(func() {
			results[i], errs[i] = b.PutMember(b.ctx, project, member("corp:alice", tenancy.Roles()[i%4]), usecase.Request{})
		})
	}
	wg.Wait()
	made := 0
	for i := range n {
		require.NoError(t, errs[i], fmt.Sprint(i))
		if !results[i].Existed {
			made++
		}
		require.Equal(t, results[0].Value.UID, results[i].Value.UID)
	}
	require.Equal(t, 1, made)
}

// ignoreCode returns nil if the error has the code.
func ignoreCode(err error, code ipam.Code) error {
	if ipam.IsCode(err, code) {
		return nil
	}
	return err
}
