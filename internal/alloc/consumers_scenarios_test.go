package alloc_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Scenario 11: of two concurrent attaches to an exclusive claim, one succeeds.
func TestConcurrentAttachesToAnExclusiveClaimAdmitOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.claim(t, claim("c", "net", 32))
	errs := make([]error, 2)
	var g errgroup.Group
	for i := range errs {
		g.Go(func() error {
			_, errs[i] = b.AttachConsumer(b.ctx, project, "c", user(fmt.Sprint("u", i)), usecase.Request{})
			return nil
		})
	}
	require.NoError(t, g.Wait())
	if errs[0] != nil {
		errs[0], errs[1] = errs[1], errs[0]
	}
	require.NoError(t, errs[0])
	refused(t, errs[1], ipam.CodeTooManyConsumers)
}

// Scenario 12: a consumer attaches while its claim is released. Either the attach succeeds and the release is refused, or the release succeeds and
// the attach is refused.
func TestConcurrentAttachAndReleaseExcludeEachOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	for i := range 10 {
		name := fmt.Sprint("c", i)
		b.claim(t, claim(name, "net", 32))
		var attached, released error
		var g errgroup.Group
		g.Go(func() error {
			_, attached = b.AttachConsumer(b.ctx, project, name, user("u"), usecase.Request{})
			return nil
		})
		g.Go(func() error { released = b.DeleteClaim(b.ctx, project, name, usecase.Request{}); return nil })
		require.NoError(t, g.Wait())
		if attached == nil {
			refused(t, released, ipam.CodeInUse)
			require.Equal(t, []string{"u"}, b.usersOf(t, name))
			continue
		}
		refused(t, attached, ipam.CodeNotFound)
		require.NoError(t, released)
	}
}

// Scenarios 18, 19 and 35: a claim accepts consumers up to its limit. The same UID in two realms is two consumers. A list by consumer returns the
// consumer's claims.
func TestConsumersAreLimitedAndSeparatedByRealm(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	one, two := user("u"), ipam.NewConsumer{Ref: ipam.ConsumerRef{Realm: "two", UID: "u"}}
	b.claim(t, claim("c", "net", 32, unused(2, one, two)))
	b.claim(t, claim("d", "net", 32, unused(1, one)))
	_, err := b.AttachConsumer(b.ctx, project, "c", user("third"), usecase.Request{})
	refused(t, err, ipam.CodeTooManyConsumers)
	for ref, want := range map[ipam.ConsumerRef]int{one.Ref: 2, two.Ref: 1, user("nobody").Ref: 0} {
		page, err := b.ListClaims(b.ctx, project, paging.Filter{Consumer: ref}, 10, "", usecase.Reading{})
		require.NoError(t, err)
		require.Len(t, page.Items, want, ref)
	}
	b.end(t, "u")
	require.Equal(t, []string{"u"}, b.usersOf(t, "c"), "that of the other realm")
	b.gone(t, "d")
	b.attach(t, "c", user("third"))
}

// Scenario 20: a late detach has no effect on a newer claim with the same name.
func TestLateDetachDoesNotAffectANewerClaim(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.claim(t, claim("c", "net", 32, unused(1, user("old"))))
	b.detach(t, "c", "old")
	made := b.claim(t, claim("c", "net", 32, unused(1, user("new"))))
	b.detach(t, "c", "old")
	got, err := b.GetClaim(b.ctx, project, "c", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, made, got)
}

// Scenarios 26 and 27: a server whose clock is wrong by 20 minutes ends no consumer early.
func TestWrongServerClockExpiresNoConsumer(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]time.Duration{"Ahead": 20 * time.Minute, "Behind": -20 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			store, _ := b.store(t, func(o *crdb.Options) { o.LocalTime = func() time.Time { return time.Now().Add(by) } })
			off := alloc.New(store, alloc.Options{Region: region})
			_, err := off.PutConsumer(b.ctx, project, user("u", living(10*time.Minute)), usecase.Request{})
			require.NoError(t, err)
			right, _ := b.store(t)
			for _, s := range []*alloc.Service{off, alloc.New(right, alloc.Options{Region: region})} {
				state, err := s.GetRealm(b.ctx, project, ipam.DefaultRealm)
				require.NoError(t, err)
				require.EqualValues(t, 1, state.Live)
				require.Zero(t, state.Expired)
				done, err := s.ExpireConsumers(b.ctx)
				require.NoError(t, err)
				require.Zero(t, done.Expired)
			}
		})
	}
}
