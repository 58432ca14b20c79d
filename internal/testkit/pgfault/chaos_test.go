package pgfault

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// A client retries claims under random faults until it sees "committed". With a unique key in the same transaction, each claim is one row. Without
// the key, the same client must create extra rows; otherwise the faults would prove nothing.
func TestRetriesUnderFaultsAreExactOnlyWithAUniqueKey(t *testing.T) {
	t.Parallel()
	for name, unique := range map[string]bool{"WithKey": true, "WithoutKey": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const workers, each = 4, 40
			b := setup(t, func(c *pgxpool.Config) { c.MaxConns = workers })
			if unique {
				b.exec(t, "create unique index on "+b.table+" (note)")
			}
			b.proxy.SetRules(
				Probability(0.06, 1, CommitSerializationFailure()),
				Probability(0.06, 1, LostBeforeCommit()),
				Probability(0.06, 1, CommittedAnswerLost()),
				Probability(0.04, 1, CommitAmbiguous40003()),
				First(3, CommittedAnswerLost()), // independent of chance
				Probability(0.02, 1, Drain57P01()),
				Probability(0.02, 1, StatementSerializationFailure()),
			)
			var wg sync.WaitGroup
			for w := range workers {
				wg.Go(func() {
					for i := range each {
						key := fmt.Sprintf("%d/%d", w, i)
						b.claimUntilTold(key)
					}
				})
			}
			wg.Wait()
			require.NoError(t, b.ctx.Err())

			b.pool.Close()
			require.NoError(t, b.proxy.AwaitIdle(b.ctx))
			var rows, keys int
			require.NoError(t, b.direct.QueryRow(b.ctx, "select count(*), count(distinct note) from "+b.table).Scan(&rows, &keys))
			require.Equal(t, workers*each, keys, "every claim that was acknowledged is there")
			if unique {
				require.Equal(t, keys, rows)
			} else {
				require.Greater(t, rows, keys)
			}
			require.GreaterOrEqual(t, b.proxy.Injected()["CommittedAnswerLost"], 3)
		})
	}
}

func (b *bench) claimUntilTold(key string) {
	for b.ctx.Err() == nil {
		if err := b.claim(b.ctx, key); err == nil {
			return
		}
	}
}

func (b *bench) claim(ctx context.Context, key string) error {
	return pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "insert into "+b.table+" (id, note) values ((random() * 1e18)::int8, $1) on conflict do nothing", key)
		return err
	})
}
