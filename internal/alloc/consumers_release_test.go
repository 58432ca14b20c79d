package alloc_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/releases"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// usedBy selects the claims that a consumer uses.
func usedBy(uid string) releases.Selection {
	return releases.Selection{Filter: paging.Filter{Consumer: user(uid).Ref}}
}

func keeping(limit int, first ...ipam.NewConsumer) func(*ipam.Claim) {
	return func(c *ipam.Claim) { c.Spec.MaxConsumers, c.Spec.Consumers = limit, first }
}

// A release by consumer releases the claims that only this consumer uses. If a claim has other consumers, the release keeps the claim with all its
// attachments, and reports it as skipped.
func TestReleaseByConsumerReleasesOnlyUnsharedClaims(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.set(t, quota("q", maxClaims(1000)))
	b.pool(t, root("net", "10.0.0.0/16"))
	kept := b.claim(t, claim("keep", "net", 28, keeping(1, user("vm"))))
	b.claim(t, claim("leave", "net", 28, unused(2, user("vm"))))
	b.claim(t, claim("retain", "net", 28, keeping(1, user("vm")), retain))
	b.claim(t, claim("shared", "net", 28, unused(2, user("vm"), user("other"))))
	b.claim(t, claim("others", "net", 28, keeping(1, user("other"))))
	b.claim(t, claim("nobodys", "net", 28))
	b.clock.move(time.Second)

	before := b.dump(t)
	shown := b.preview(t, usedBy("vm"))
	require.Equal(t, 3, shown.Count)
	require.Len(t, shown.Skipped, 1)
	require.Equal(t, before, b.dump(t), "a dry run writes nothing")

	q := usedBy("vm")
	q.Token, q.Limit = shown.Token, 1
	sum := b.releaseAll(t, q)
	require.Equal(t, 3, sum.Done)
	require.Equal(t, "shared", sum.Skipped[0].Name)
	require.Equal(t, ipam.CodeInUse, sum.Skipped[0].Reason.Code)
	require.Equal(t, "Claim acme/shared is used by 2 consumers, including default/vm. The other consumers still need it. To end only the use by default/vm, detach that consumer.", sum.Skipped[0].Reason.Message)
	require.Equal(t, []string{"other", "vm"}, b.usersOf(t, "shared"))
	require.Equal(t, []string{"nobodys", "others", "shared"}, b.owned(t, paging.Filter{}))
	require.Equal(t, "3", b.usage(t, "q")[1])
	vm, err := b.GetConsumer(b.ctx, project, user("vm").Ref)
	require.NoError(t, err)
	require.True(t, vm.Live(), "it lives on")
	page, err := b.GetHistory(b.ctx, project, kept.Block.Addr(), time.Time{}, 10, "", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, ipam.ReleaseCause{Reason: ipam.ReasonDetached, Consumer: user("vm").Ref}, page.Items[0].Because)

	again := usedBy("vm")
	again.Before = b.clock.read()
	require.Zero(t, b.releaseAll(t, again).Done)
	again.Filter.Consumer.UID = "nobody"
	require.Zero(t, b.releaseAll(t, again))
}

func TestReleaseByConsumerKeepsAClaimAttachedSinceThePreview(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	b.claim(t, claim("c", "net", 28, keeping(2, user("vm"))))
	b.claim(t, claim("d", "net", 28, keeping(2, user("vm"))))
	b.clock.move(time.Second)
	q := usedBy("vm")
	q.Token = b.preview(t, q).Token
	b.clock.move(time.Second)
	b.attach(t, "c", user("other"))
	_, err := b.ReleaseClaims(b.ctx, project, q, usecase.Request{})
	refused(t, err, ipam.CodePreconditionFailed)
	require.Equal(t, []string{"c", "d"}, b.owned(t, paging.Filter{}))
}

// Other consumers attach to the claims during a release by consumer. If the attach succeeds, the claim must stay.
func TestConcurrentAttachKeepsAClaimFromReleaseByConsumer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	far, _ := b.server(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	for i := range 24 {
		b.claim(t, claim(fmt.Sprintf("c%02d", i), "net", 28, keeping(2, user("vm"))))
	}
	b.clock.move(time.Second)
	q := usedBy("vm")
	q.Before = b.clock.read()
	var g errgroup.Group
	attached := make([]bool, 24)
	for i := range attached {
		g.Go(func() error {
			_, err := far.AttachConsumer(b.ctx, project, fmt.Sprintf("c%02d", i), user("other"), usecase.Request{})
			attached[i] = err == nil
			if ipam.IsCode(err, ipam.CodeNotFound) {
				return nil
			}
			return err
		})
	}
	g.Go(func() error {
		_, err := b.ReleaseClaims(b.ctx, project, q, usecase.Request{})
		return err
	})
	require.NoError(t, g.Wait())
	for i, is := range attached {
		name := fmt.Sprintf("c%02d", i)
		if !is {
			b.gone(t, name)
			continue
		}
		require.Equal(t, []string{"other", "vm"}, b.usersOf(t, name))
	}
}

// changing is a store that calls a function before each transaction. Here, the function changes one more claim each time.
type changing struct {
	storage.Store
	change func()
}

func (c *changing) InOneRoundTrip(context.Context, string, storage.Locks, func(context.Context) (context.Context, func()), func(context.Context, storage.Tx) error) error {
	return storage.ErrCacheMiss
}

func (c *changing) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	c.change()
	return c.Store.InTx(ctx, op, locks, fn)
}

// The claims in a group change one after another, so the group's transaction runs again and again. The group must still release the unchanged claims,
// and must not fail with contention.
func TestGroupContinuesWithoutChangedClaims(t *testing.T) {
	t.Parallel()
	b := setup(t)
	net := b.pool(t, root("net", "10.0.0.0/16"))
	for i := range 24 {
		b.claim(t, claim(fmt.Sprintf("c%02d", i), "net", 28, keeping(2, user("vm"))))
	}
	b.clock.move(time.Second)
	q := usedBy("vm")
	q.Before = b.clock.read()
	store, _ := b.store(t)
	left := &atomic.Int64{}
	left.Store(23)
	s := b.serve(&changing{store, func() {
		if i := left.Add(-1); i > 5 {
			_, err := b.AttachConsumer(b.ctx, project, fmt.Sprintf("c%02d", i), user("other"), usecase.Request{})
			assert.True(t, err == nil || ipam.IsCode(err, ipam.CodeNotFound), "%v", err)
		}
	}})
	leave, err := s.Claims.Locks.Acquire(b.ctx, net.UID)
	require.NoError(t, err)
	var sum releases.Report
	var g errgroup.Group
	g.Go(func() (err error) {
		sum, err = s.ReleaseClaims(b.ctx, project, q, usecase.Request{})
		return err
	})
	waitFor(t, func() bool { return s.Waiting(net.UID) == 24 })
	leave()
	require.NoError(t, g.Wait())
	require.Len(t, b.owned(t, paging.Filter{}), len(sum.Skipped))
	require.Equal(t, 24, sum.Done+len(sum.Skipped))
	require.Greater(t, len(sum.Skipped), usecase.MaxRounds)
}
