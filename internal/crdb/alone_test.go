package crdb_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// On conflict, some long transactions could restart each other forever. So they take a lock and run one after another. Two kinds do this:
// transactions that read all shards of a quota, and transactions that move blocks between regions while both regions claim. On PostgreSQL, advisory
// locks order them.
func TestLongTransactionsTakeTurns(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.New(t)+crdb.Patience)
	pool := h.createPool(t, rootPool("pool", "10.0.0.0/24"))
	made, err := h.svc.PutQuota(admin(t), project, quotaOf(9), usecase.Request{})
	require.NoError(t, err)
	at := storage.PoolContainer(pool)
	type transaction struct {
		locks storage.Locks
		read  func(ctx context.Context, tx storage.Tx) error
	}
	for name, c := range map[string]transaction{
		"AllShardsOfAQuota": {read: func(ctx context.Context, tx storage.Tx) error {
			_, err := tx.QuotaShards(ctx, []ipam.ID{made.Value.UID})
			return err
		}, locks: storage.Locks{Shared: []ipam.ID{pool.ProjectID}}},
		"BlocksOfABusyContainer": {read: func(context.Context, storage.Tx) error { return nil }, locks: storage.Locks{
			Exclusive: []ipam.ID{at.Lock()}, Busy: []storage.Container{at},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := func(then func()) error {
				return h.store.InTx(admin(t), "long", c.locks, func(ctx context.Context, tx storage.Tx) error {
					if err := c.read(ctx, tx); err != nil {
						return err
					}
					if _, err := tx.PoolGetByID(ctx, pool.UID); err != nil {
						return err
					}
					then()
					return nil
				})
			}
			second, ended := make(chan struct{}), make(chan error, 1)
			require.NoError(t, read(func() {
				go func() { ended <- read(func() { close(second) }) }()
				select {
				case <-second:
					require.Fail(t, "it did not wait for its turn")
				case <-time.After(300 * time.Millisecond):
				}
			}))
			<-second
			require.NoError(t, <-ended)
		})
	}
}
