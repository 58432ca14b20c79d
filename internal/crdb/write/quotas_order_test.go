package write

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// TestQuotaShardsAreUpdatedInOneOrder checks that two transactions lock the same shards in the same order. Otherwise each would lock its own shard
// first and then wait for the other, until PostgreSQL detects the deadlock.
func TestQuotaShardsAreUpdatedInOneOrder(t *testing.T) {
	t.Parallel()
	update := func(quota byte, shard int) storage.ShardUpdate {
		return storage.ShardUpdate{Now: ipam.QuotaShard{QuotaID: ipam.ID{quota}, Shard: shard}}
	}
	want := []storage.ShardUpdate{update(1, 0), update(1, 3), update(1, 15), update(2, 1), update(9, 0)}
	require.Equal(t, want, sortedByKey([]storage.ShardUpdate{update(9, 0), update(1, 15), update(2, 1), update(1, 0), update(1, 3)}))
	require.Equal(t, want, sortedByKey([]storage.ShardUpdate{update(1, 3), update(9, 0), update(1, 0), update(1, 15), update(2, 1)}))
}
