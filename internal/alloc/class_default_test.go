package alloc_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// defaults returns the default classes of a project, by family.
func (b *bundle) defaults(t testing.TB, in string) map[ipam.Family][]string {
	t.Helper()
	out := map[ipam.Family][]string{}
	page, err := b.ListClasses(b.ctx, in, paging.Filter{}, 500, "", usecase.Reading{})
	require.NoError(t, err)
	for _, c := range page.Items {
		if c.Spec.IsDefault && c.Project == in {
			out[c.Spec.Family] = append(out[c.Spec.Family], c.Name)
		}
	}
	return out
}

func TestFamilyHasAtMostOneDefaultClass(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, project, class("std", defaultClass))
	b.class(t, project, class("std6", defaultClass, forFamily(ipam.IPv6)))
	b.class(t, ipam.PlatformProject, class("std", defaultClass, sharedClass))
	b.class(t, project, class("plain"))
	before := b.dump(t)
	_, created := b.CreateClass(b.ctx, project, class("second", defaultClass), false, usecase.Request{})
	_, patched := b.patchClass("plain", false, usecase.Request{}, defaultClass)
	for _, err := range []error{created, patched} {
		e := refused(t, err, ipam.CodeAlreadyExists)
		require.Equal(t, []string{"acme/std"}, e.Figures.ConflictsWith)
		require.Equal(t, "/spec/isDefault", e.Fields[0].Pointer)
	}
	require.Equal(t, before, b.dump(t))
	require.Equal(t, map[ipam.Family][]string{ipam.IPv4: {"std"}, ipam.IPv6: {"std6"}}, b.defaults(t, project), "one for each family")

	_, err := b.patchClass("std", false, usecase.Request{}, func(s *ipam.ClassSpec) { s.IsDefault = false })
	require.NoError(t, err)
	_, err = b.patchClass("plain", false, usecase.Request{}, defaultClass)
	require.NoError(t, err, "nobody is the default now")
	require.NoError(t, b.DeleteClass(b.ctx, project, "plain", usecase.Request{}))
	b.class(t, project, class("second", defaultClass))
}

func TestDefaultClassMovesInOneTransaction(t *testing.T) {
	t.Parallel()
	b := setup(t)
	was := b.class(t, project, class("std", defaultClass))
	b.class(t, project, class("std6", defaultClass, forFamily(ipam.IPv6)))
	b.clock.move(time.Second)
	_, err := b.CreateClass(b.ctx, project, class("second", defaultClass), true, usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, map[ipam.Family][]string{ipam.IPv4: {"second"}, ipam.IPv6: {"std6"}}, b.defaults(t, project))
	now, err := b.GetClass(b.ctx, project, "std", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, []any{was.Generation + 1, b.clock.read()}, []any{now.Generation, now.UpdatedAt})
	require.NotEqual(t, was.Revision, now.Revision)
	trail := b.events(t, project, trail.EventFilter{Kind: "IPClass", Name: "std"})
	require.Len(t, trail, 2)
	require.JSONEq(t, `{"spec":{"isDefault":true}}`, string(trail[0].Before))
	require.JSONEq(t, `{"spec":{"isDefault":false}}`, string(trail[0].After))

	_, err = b.patchClass("std", true, usecase.Request{}, defaultClass)
	require.NoError(t, err)
	require.Equal(t, []string{"std"}, b.defaults(t, project)[ipam.IPv4])
	before := b.dump(t)
	_, err = b.CreateClass(b.ctx, project, class("second", defaultClass), true, usecase.Request{})
	require.Equal(t, "/metadata/name", refused(t, err, ipam.CodeAlreadyExists).Fields[0].Pointer)
	require.Equal(t, before, b.dump(t), "a refusal moves nothing")
	_, err = b.CreateClass(b.ctx, project, class("third"), true, usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, []string{"std"}, b.defaults(t, project)[ipam.IPv4], "who is not to be the default takes it from nobody")
}

// Several servers create a default class at the same time. One of them succeeds, and the others return a conflict.
func TestConcurrentCreatesLeaveOneDefaultClass(t *testing.T) {
	t.Parallel()
	b := setup(t)
	servers := b.servers(t, 3)
	var mu sync.Mutex
	var made []string
	var wg sync.WaitGroup
	results := newLedger()
	for i := range 12 {
		wg.Go(func() {
			name := fmt.Sprintf("c%d", i)
			_, err := servers[i%3].CreateClass(b.ctx, project, class(name, defaultClass), false, usecase.Request{})
			results.expect(err, ipam.CodeAlreadyExists)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				made = append(made, name)
			}
		})
	}
	wg.Wait()
	require.Empty(t, results.odd)
	require.Len(t, made, 1)
	require.Equal(t, made, b.defaults(t, project)[ipam.IPv4])
	require.Equal(t, made, b.classNames(t, project, paging.Filter{}, 100), "the others are not there at all")
}

// Several servers move the default to another class at the same time. All succeed, one after another. In the end, exactly one class is the default.
func TestConcurrentMovesLeaveOneDefaultClass(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 6 {
		b.class(t, project, class(fmt.Sprintf("old%d", i)))
	}
	servers := b.servers(t, 3)
	results := newLedger()
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			s := servers[i%3]
			if i%2 == 0 {
				_, err := s.CreateClass(b.ctx, project, class(fmt.Sprintf("new%d", i), defaultClass), true, usecase.Request{})
				results.expect(err)
				return
			}
			_, err := s.PatchClass(b.ctx, project, fmt.Sprintf("old%d", i/2), true, usecase.Request{}, func(c ipam.Class) (ipam.Class, error) {
				c.Spec.IsDefault = true
				return c, nil
			})
			results.expect(err)
		})
	}
	wg.Wait()
	require.Empty(t, results.odd)
	require.Len(t, b.defaults(t, project)[ipam.IPv4], 1)
	require.Len(t, b.classNames(t, project, paging.Filter{}, 100), 12)
}

// The response to a COMMIT is lost. The server still creates the class once, and moves the default once.
func TestMovedDefaultWithUnknownOutcomeIsAppliedOnce(t *testing.T) {
	t.Parallel()
	for _, faults := range [][]fault{{lostBefore}, {lostAfter}, {landsLate}, {lostBefore, lostAfter}} {
		t.Run(fmt.Sprint(faults), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.class(t, project, class("std", defaultClass))
			store, _ := b.store(t)
			f := &faulty{Store: store}
			b.Service = b.serve(f)
			f.next(faults...)
			_, err := b.CreateClass(b.ctx, project, class("second", defaultClass), true, usecase.Request{})
			require.NoError(t, err)
			require.Equal(t, []string{"second"}, b.defaults(t, project)[ipam.IPv4])
			f.next(faults...)
			_, err = b.patchClass("std", true, usecase.Request{}, defaultClass)
			require.NoError(t, err)
			require.Zero(t, f.left())
			require.Equal(t, []string{"std"}, b.defaults(t, project)[ipam.IPv4])
		})
	}
}

// outrun is a store in which another class becomes the default just before a COMMIT. So the unique index refuses the COMMIT.
type outrun struct {
	storage.Store
	left int
	meet func()
}

// InTx implements storage.Store.
func (o *outrun) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	if o.left == 0 || (op != "class_create" && op != "class_patch") {
		return o.Store.InTx(ctx, op, locks, fn)
	}
	o.left--
	o.meet()
	return ipam.Errorf(ipam.CodeAlreadyExists, "The project has a default class for this family already.").At("/spec/isDefault", "is taken.")
}

func TestDefaultClassMoveRetriesAfterAConcurrentMove(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, project, class("plain"))
	store, _ := b.store(t)
	o := &outrun{Store: store}
	s := b.serve(o)
	for i, run := range []func(move bool) error{
		func(move bool) error {
			_, err := s.CreateClass(b.ctx, project, class("made", defaultClass), move, usecase.Request{})
			return err
		},
		func(move bool) error {
			_, err := s.PatchClass(b.ctx, project, "plain", move, usecase.Request{}, func(c ipam.Class) (ipam.Class, error) {
				c.Spec.IsDefault = true
				return c, nil
			})
			return err
		},
	} {
		first := fmt.Sprintf("first%d", i)
		o.left, o.meet = 1, func() {
			_, err := b.CreateClass(b.ctx, project, class(first, defaultClass), true, usecase.Request{})
			require.NoError(t, err)
		}
		require.Equal(t, []string{"acme/" + first}, refused(t, run(false), ipam.CodeAlreadyExists).Figures.ConflictsWith)
		o.left, o.meet = 1, func() {}
		require.NoError(t, run(true))
		require.Len(t, b.defaults(t, project)[ipam.IPv4], 1)
		require.NotContains(t, b.defaults(t, project)[ipam.IPv4], first)
	}
	o.left = 1000
	refused(t, func() error {
		_, err := s.CreateClass(b.ctx, project, class("never", defaultClass), true, usecase.Request{})
		return err
	}(), ipam.CodeContention)
}
