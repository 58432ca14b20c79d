package alloc_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/releases"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// owner selects the claims of an owner.
func owner(o string) releases.Selection { return releases.Selection{Filter: paging.Filter{Owner: o}} }

// preview runs a release as a dry run.
func (b *bundle) preview(t testing.TB, q releases.Selection) releases.Report {
	t.Helper()
	q.Preview = 100
	out, err := b.ReleaseClaims(b.ctx, project, q, dry)
	require.NoError(t, err)
	require.Zero(t, out.Done)
	return out
}

// releaseAll releases the selected claims, request by request.
func (b *bundle) releaseAll(t testing.TB, q releases.Selection) (sum releases.Report) {
	t.Helper()
	for range 100 {
		out, err := b.ReleaseClaims(b.ctx, project, q, usecase.Request{})
		require.NoError(t, err)
		sum.Done, sum.Gone, sum.Skipped = sum.Done+out.Done, sum.Gone+out.Gone, append(sum.Skipped, out.Skipped...)
		if q.Cursor = out.Next; q.Cursor == "" {
			return sum
		}
	}
	t.Fatal("it does not end")
	return sum
}

func TestBulkReleaseReleasesThePreviewedClaims(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.set(t, quota("q", maxClaims(1000)))
	b.class(t, project, class("std"))
	b.pool(t, root("a", "10.0.0.0/16", backing("std")))
	b.pool(t, root("b", "10.1.0.0/16", func(p *ipam.Pool) { p.Spec.ReuseAfter = new(time.Hour) }))
	made := func(n int, prefix string, build func(name string) ipam.Claim) {
		for i := range n {
			b.claim(t, build(fmt.Sprintf("%s-%03d", prefix, i)))
		}
	}
	made(40, "a", func(name string) ipam.Claim { return claim(name, "a", 28, ownerIs("VM", "web", "1")) })
	made(20, "b", func(name string) ipam.Claim { return claim(name, "b", 28, ownerIs("VM", "web", "1")) })
	made(5, "keep", func(name string) ipam.Claim { return claim(name, "a", 28, ownerIs("VM", "web", "1"), retain) })
	made(5, "label", func(name string) ipam.Claim { return claim(name, "a", 28, withLabels("env", "test")) })
	made(5, "class", func(name string) ipam.Claim { return byClass(name, "std", length(28)) })
	made(3, "other", func(name string) ipam.Claim { return claim(name, "b", 28) })

	before := b.dump(t)
	shown := b.preview(t, owner("VM/web/1"))
	require.Equal(t, 65, shown.Count)
	require.Len(t, shown.Claims, 65)
	require.Equal(t, before, b.dump(t), "a dry run writes nothing")

	q := owner("VM/web/1")
	q.Token, q.Limit = shown.Token, 25
	sum := b.releaseAll(t, q)
	require.Equal(t, 65, sum.Done)
	require.Empty(t, sum.Skipped)
	require.Equal(t, "13", b.usage(t, "q")[1], "the quota has them back")
	require.Len(t, b.events(t, project, trail.EventFilter{Kind: "IPClaim"}), 78+65)
	for phase, n := range map[string]int{"Retained": 5, "CoolingDown": 20} {
		require.Len(t, all(t, 100, func(n int, c string) (paging.Page[ipam.Allocation], error) {
			return b.ListAllocations(b.ctx, project, paging.Filter{Phase: phase}, n, c, usecase.Reading{})
		}), n, phase)
	}
	for name, c := range map[string]struct {
		f paging.Filter
		n int
	}{
		"ByLabels": {paging.Filter{Labels: &ipam.Selector{MatchLabels: labels("env", "test")}}, 5},
		"ByClass":  {paging.Filter{Class: "std"}, 5},
		"ByPool":   {paging.Filter{Pool: ref("b")}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			q := releases.Selection{Filter: c.f}
			q.Token = b.preview(t, q).Token
			require.Equal(t, c.n, b.releaseAll(t, q).Done)
		})
	}
	require.Equal(t, "0", b.usage(t, "q")[1])
}

func TestBulkReleaseByNameCountsMissingClaims(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	q := releases.Selection{Names: []string{"none"}, Before: b.clock.read(), Limit: 4}
	for i := range 10 {
		name := fmt.Sprintf("c%d", i)
		b.claim(t, claim(name, "net", 28))
		q.Names = append(q.Names, name)
	}
	sum := b.releaseAll(t, q)
	require.Equal(t, [2]int{10, 1}, [2]int{sum.Done, sum.Gone})
	sum = b.releaseAll(t, q)
	require.Equal(t, [2]int{0, 11}, [2]int{sum.Done, sum.Gone}, "a repeat finds nothing")
}

func TestBulkReleaseKeepsClaimsOutsideThePreview(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	one := func(name string) { b.claim(t, claim(name, "net", 28, ownerIs("VM", "web", ""))) }
	one("a")
	q := owner("VM/web")
	q.Token = b.preview(t, q).Token
	b.clock.move(time.Second)
	t.Run("NewClaimsStay", func(t *testing.T) {
		one("later")
		require.Equal(t, 1, b.releaseAll(t, q).Done)
		require.Equal(t, []string{"later"}, b.owned(t, q.Filter))
	})
	t.Run("OldTokenReleasesNothing", func(t *testing.T) {
		_, err := b.ReleaseClaims(b.ctx, project, q, usecase.Request{})
		refused(t, err, ipam.CodePreconditionFailed)
		require.Equal(t, []string{"later"}, b.owned(t, q.Filter))
	})
	t.Run("CreatedBeforeLimits", func(t *testing.T) {
		q := owner("VM/web")
		q.Before = b.clock.read().Add(-time.Millisecond)
		require.Zero(t, b.releaseAll(t, q).Done)
	})
	t.Run("ChangedClaimIsRefused", func(t *testing.T) {
		q := owner("VM/web")
		q.Token = b.preview(t, q).Token
		b.clock.move(time.Second)
		_, err := b.PatchClaim(b.ctx, project, "later", usecase.Request{}, func(c ipam.Claim) (ipam.Claim, error) {
			c.Labels = labels("keep", "me")
			return c, nil
		})
		require.NoError(t, err)
		_, err = b.ReleaseClaims(b.ctx, project, q, usecase.Request{})
		refused(t, err, ipam.CodePreconditionFailed)
	})
	t.Run("ClaimChangedBetweenRequestsStays", func(t *testing.T) {
		b.clock.move(time.Second)
		one("m")
		one("z")
		b.clock.move(time.Second)
		q := owner("VM/web")
		q.Token, q.Limit = b.preview(t, q).Token, 2
		out, err := b.ReleaseClaims(b.ctx, project, q, usecase.Request{})
		require.NoError(t, err)
		require.Equal(t, 2, out.Done)
		b.clock.move(time.Second)
		_, err = b.PatchClaim(b.ctx, project, "z", usecase.Request{}, func(c ipam.Claim) (ipam.Claim, error) {
			c.Labels = labels("keep", "me")
			return c, nil
		})
		require.NoError(t, err)
		one("zz")
		q.Cursor = out.Next
		sum := b.releaseAll(t, q)
		require.Zero(t, sum.Done)
		require.Len(t, sum.Skipped, 1)
		require.Equal(t, ipam.CodePreconditionFailed, sum.Skipped[0].Reason.Code)
		require.Equal(t, []string{"z", "zz"}, b.owned(t, q.Filter))
	})
}

func TestInvalidBulkReleasesAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	b.claim(t, claim("c", "net", 28))
	byPool := claimsOf("net")
	try := func(q releases.Selection, r usecase.Request) error {
		_, err := b.ReleaseClaims(b.ctx, project, q, r)
		return err
	}
	refused(t, try(releases.Selection{Before: time.Now()}, usecase.Request{}), ipam.CodeInvalidArgument)
	refused(t, try(releases.Selection{}, dry), ipam.CodeInvalidArgument)
	refused(t, try(byPool, usecase.Request{}), ipam.CodeInvalidArgument)
	foreign := byPool
	foreign.Token = b.preview(t, owner("VM")).Token
	refused(t, try(foreign, usecase.Request{}), ipam.CodeInvalidArgument)
	refused(t, try(releases.Selection{Filter: paging.Filter{Pool: ref("none")}}, dry), ipam.CodeInvalidArgument)
	_, err := b.ReleaseClaims(b.acting("corp:viewer", tenancy.Viewer, project), project, byPool, dry)
	refused(t, err, ipam.CodePermissionDenied)
	require.Equal(t, []string{"c"}, b.owned(t, paging.Filter{}))
}

// Two servers release the same claims, while other callers release some of these claims and create new ones. Each selected claim is released once,
// and no new claim is released.
func TestConcurrentBulkReleasesReleaseEachClaimOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	far, _ := b.server(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprintf("c%02d", i))
		b.claim(t, claim(names[i], "net", 28))
	}
	q := releases.Selection{Filter: paging.Filter{Pool: ref("net")}, Before: b.clock.read(), Limit: 7}
	b.clock.move(time.Second)
	var mu sync.Mutex
	var racers sync.WaitGroup
	done := 0
	for _, s := range []interface {
		ReleaseClaims(ctx context.Context, project string, q releases.Selection, r usecase.Request) (releases.Report, error)
	}{b, far, far} {
		racers.Go(func() {
			q := q
			for range 100 {
				out, err := s.ReleaseClaims(b.ctx, project, q, usecase.Request{})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				done += out.Done
				mu.Unlock()
				if q.Cursor = out.Next; q.Cursor == "" {
					return
				}
			}
		})
	}
	racers.Go(func() {
		for i := 0; i < len(names); i += 5 {
			err := far.DeleteClaim(b.ctx, project, names[i], usecase.Request{})
			if err == nil {
				mu.Lock()
				done++
				mu.Unlock()
			} else if !ipam.IsCode(err, ipam.CodeNotFound) {
				t.Error(err)
			}
		}
	})
	racers.Go(func() {
		for i := range 10 {
			if _, err := far.CreateClaim(b.ctx, project, claim(fmt.Sprintf("new%d", i), "net", 28), usecase.Request{}); err != nil {
				t.Error(err)
			}
		}
	})
	racers.Wait()
	require.Equal(t, 60, done)
	require.Len(t, b.owned(t, paging.Filter{}), 10)
}

// hurried is a request context whose deadline is always near but never passes, even on a slow machine.
type hurried struct{ context.Context }

// Deadline implements context.Context.
func (hurried) Deadline() (time.Time, bool) { return time.Now().Add(1900 * time.Millisecond), true }

// A request near its deadline returns its results so far and a cursor.
func TestBulkReleaseReturnsACursorBeforeItsDeadline(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	q := releases.Selection{Filter: paging.Filter{Pool: ref("net")}, Before: b.clock.read()}
	for i := range 5 {
		b.claim(t, claim(fmt.Sprintf("c%d", i), "net", 28))
	}
	out, err := b.ReleaseClaims(hurried{b.ctx}, project, q, usecase.Request{})
	require.NoError(t, err)
	require.NotEmpty(t, out.Next)
	q.Cursor = out.Next
	require.Equal(t, 5, out.Done+b.releaseAll(t, q).Done)
}

func TestBulkReleaseKeepsClaimsWithConsumers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	b.claim(t, claim("free", "net", 28))
	b.claim(t, claim("used", "net", 28, unused(1, user("vm-1"))))
	q := claimsOf("net")
	q.Token = b.preview(t, q).Token
	sum := b.releaseAll(t, q)
	require.Equal(t, 1, sum.Done)
	require.Len(t, sum.Skipped, 1)
	require.Equal(t, "used", sum.Skipped[0].Name)
	require.Equal(t, ipam.CodeInUse, sum.Skipped[0].Reason.Code)
	require.Equal(t, []string{"used"}, b.owned(t, paging.Filter{}))
}

// claimsOf selects the claims on a pool.
func claimsOf(pool string) releases.Selection {
	return releases.Selection{Filter: paging.Filter{Pool: ref(pool)}}
}

// slowly is a store that calls show before its first release transaction. Here, show commits a claim that began before the dry run.
type slowly struct {
	storage.Store
	first sync.Once
	show  func()
}

func (s *slowly) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	if op == "claim_group" {
		s.first.Do(s.show)
	}
	return s.Store.InTx(ctx, op, locks, fn)
}

// The creation time of a claim is the start of its transaction. So a claim may have a time before the dry run, although it becomes visible only
// during the release. The dry run did not show this claim, so the release must keep it.
func TestBulkReleaseKeepsClaimsCommittedAfterThePreview(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	const many = 150 // more than a page
	for i := range many {
		b.claim(t, claim(fmt.Sprintf("a-%03d", i), "net", 32, ownerIs("VM", "web", "1")))
	}
	b.clock.move(time.Second)
	q := owner("VM/web/1")
	q.Token = b.preview(t, q).Token
	store, _ := b.store(t)
	s := &slowly{Store: store, show: func() { b.claim(t, claim("late", "net", 32, ownerIs("VM", "web", "1"))) }} // with the same time: the clock stands still
	out, err := b.serve(s).ReleaseClaims(b.ctx, project, q, usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, many, out.Done)
	_, err = b.GetClaim(b.ctx, project, "late", usecase.Reading{})
	require.NoError(t, err)
}
