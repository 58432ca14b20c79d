package alloc_test

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// weighing is a store that counts the free rows that transactions read and change.
type weighing struct {
	storage.Store

	mu sync.Mutex
	weight
	locks []storage.Locks
}

type weight struct {
	asked         int // rows looked up by key
	read, changed int
	reads         int // round trips for these reads
}

func (c *weighing) take() (asked, read, changed int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked, read, changed = c.asked, c.read, c.changed
	c.weight, c.locks = weight{}, nil
	return asked, read, changed
}

// InTx implements storage.Store. It counts only the last attempt, because the number of attempts depends on the load of the machine.
func (c *weighing) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	c.mu.Lock()
	before := c.weight
	c.mu.Unlock()
	return c.Store.InTx(ctx, op, locks, func(ctx context.Context, tx storage.Tx) error {
		c.mu.Lock()
		c.weight = before
		c.mu.Unlock()
		return fn(ctx, weighingTx{tx, c})
	})
}

// DryRun implements storage.Store.
func (c *weighing) DryRun(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	c.mu.Lock()
	c.locks = append(c.locks, locks)
	c.mu.Unlock()
	return c.Store.DryRun(ctx, op, locks, func(ctx context.Context, tx storage.Tx) error { return fn(ctx, weighingTx{tx, c}) })
}

type weighingTx struct {
	storage.Tx
	to *weighing
}

func (t weighingTx) add(reads freespace.Reads, free []netip.Prefix) {
	t.to.mu.Lock()
	defer t.to.mu.Unlock()
	t.to.reads++
	t.to.asked += len(reads.Keys)
	t.to.read += len(free)
}

// FreeRead implements storage.Tx.
func (t weighingTx) FreeRead(ctx context.Context, c storage.Container, reads freespace.Reads) ([]netip.Prefix, error) {
	free, err := t.Tx.FreeRead(ctx, c, reads)
	t.add(reads, free)
	return free, err
}

// GroupRead implements storage.Tx.
func (t weighingTx) GroupRead(ctx context.Context, c storage.Container, reads freespace.Reads, q storage.GroupQuery) (storage.GroupFacts, error) {
	facts, err := t.Tx.GroupRead(ctx, c, reads, q)
	t.add(reads, facts.Free)
	return facts, err
}

// Write implements storage.Tx.
func (t weighingTx) Write(ctx context.Context, ch storage.Changes) error {
	t.to.mu.Lock()
	for _, f := range ch.Free {
		t.to.changed += len(f.Delete) + len(f.Insert)
	}
	t.to.mu.Unlock()
	return t.Tx.Write(ctx, ch)
}

func setupWeighing(t *testing.T) (*bundle, *weighing) {
	t.Helper()
	b := setup(t)
	store, _ := b.store(t)
	c := &weighing{Store: store}
	b.Service = b.serve(c)
	return b, c
}

func manyClaims(prefix, pool string, n, bits int) []ipam.Claim {
	claims := make([]ipam.Claim, n)
	for i := range claims {
		claims[i] = claim(fmt.Sprintf("%s-%d", prefix, i), pool, bits)
	}
	return claims
}

// A batch of Random claims reads and changes a limited number of rows, even if earlier batches have fragmented the pool. The limit also bounds how
// long the batch keeps the pool locked.
func TestBatchOfRandomClaimsReadsAndChangesFewRows(t *testing.T) {
	t.Parallel()
	b, rows := setupWeighing(t)
	b.pool(t, root("net", "10.0.0.0/8", strategy(ipam.Random)))
	for round := range 6 {
		rows.take()
		_, err := b.CreateClaimBatch(b.ctx, project, manyClaims(fmt.Sprintf("r%d", round), "net", 1000, 32), usecase.Request{})
		require.NoError(t, err)
		asked, read, changed := rows.take()
		require.LessOrEqual(t, asked, 3000, "round %d", round)
		require.LessOrEqual(t, read, 2*25*freespace.FewRows+asked, "round %d", round)
		require.LessOrEqual(t, changed, 1500, "round %d", round)
	}
}

// Random claims read only some of the free rows. Before the server refuses a batch, it checks that no other free rows exist.
func TestBatchOfRandomClaimsFindsTheLastFreeBlocks(t *testing.T) {
	t.Parallel()
	b, _ := setupWeighing(t)
	b.pool(t, root("net", "10.0.0.0/23", strategy(ipam.Random)))
	held := make([]ipam.Claim, 0, 256)
	for i := range 256 { // every second address
		held = append(held, claimOf(fmt.Sprintf("held-%d", i), "net", exactly(fmt.Sprintf("10.0.%d.%d/32", i/128, i%128*2))))
	}
	_, err := b.CreateClaimBatch(b.ctx, project, held, usecase.Request{})
	require.NoError(t, err)
	_, err = b.CreateClaimBatch(b.ctx, project, manyClaims("too-many", "net", 257, 32), usecase.Request{})
	refused(t, err, ipam.CodePoolExhausted)
	_, err = b.CreateClaimBatch(b.ctx, project, manyClaims("all", "net", 256, 32), usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, "0", b.available(t, "net"))
}
