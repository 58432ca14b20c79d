package crdb

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/crdb/restored"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Epochs is the result of RenewEpochs.
type Epochs struct {
	Renewed int      // renewed epochs, one for each pool and region
	Fenced  []string // "pool in region" for each pair with different epochs; these epochs stay unchanged, and Carve does not trust the region's rows
}

// RenewEpochs prepares a database after a restore from a backup. No server may run on the database. In one transaction it makes these changes:
//
//   - Each pool gets a new epoch in each region. An epoch is a version that two tables contain. So facts that were read before the restore do not
//     match any more.
//   - All cursors for the change feed become invalid.
//   - All console sessions end.
//   - Webhooks stop until an operator starts them.
//   - Each container's version row gets a new version and a new stock, computed from the rows.
//
// If a pool's two epochs differ, the two tables were restored to different times. RenewEpochs leaves such a pair unchanged, because equal epochs
// would hide the fault.
func RenewEpochs(ctx context.Context, dsn string) (Epochs, error) {
	s, err := Open(ctx, dsn, Options{MaxConnections: 1})
	if err != nil {
		return Epochs{}, err
	}
	defer s.Close()
	var done Epochs
	fresh := map[epochKey]ipam.ID{} // the same in every attempt, because a retry must not generate other epochs
	err = s.inMaintenanceTx(ctx, "epochs_renew", func(ctx context.Context, c *conn) error {
		if done, err = renewEpochs(ctx, c, fresh); err != nil {
			return err
		}
		for _, statement := range []string{"feed_forget", "session_end"} {
			if _, err := c.Exec(ctx, restored.Statement(statement)); err != nil {
				return err
			}
		}
		if _, err := c.Exec(ctx, restored.Statement("webhook_stop"), string(ipam.StoppedRestored)); err != nil {
			return err
		}
		return renewFences(ctx, c)
	})
	return done, err
}

type epochKey struct {
	pool   ipam.ID
	region string
}

func renewEpochs(ctx context.Context, c *conn, fresh map[epochKey]ipam.ID) (done Epochs, err error) {
	records, err := c.Query(ctx, restored.Statement("epoch_pairs"))
	if err != nil {
		return done, err
	}
	var pools, was, now []ipam.ID
	var regions []string
	var at epochKey
	var recorded, beside ipam.ID
	if _, err := pgx.ForEachRow(records, []any{&at.pool, &at.region, &recorded, &beside}, func() error {
		if beside != recorded {
			done.Fenced = append(done.Fenced, at.pool.String()+" in "+at.region)
			return nil
		}
		if _, prepared := fresh[at]; !prepared {
			fresh[at] = ipam.NewID()
		}
		pools, regions = append(pools, at.pool), append(regions, at.region)
		was, now = append(was, recorded), append(now, fresh[at])
		return nil
	}); err != nil {
		return done, err
	}
	for _, name := range []string{"epoch_renew_regions", "epoch_renew_stocks"} {
		tag, err := c.Exec(ctx, restored.Statement(name), pools, regions, was, now)
		if err != nil {
			return done, err
		}
		if int(tag.RowsAffected()) != len(pools) {
			return done, fmt.Errorf("%s changed %d of %d rows: is a server running?", name, tag.RowsAffected(), len(pools))
		}
	}
	done.Renewed = len(pools)
	return done, nil
}

func renewFences(ctx context.Context, c *conn) error {
	stocks, err := audit.Stocks(ctx, c)
	if err != nil {
		return err
	}
	var regions []string
	var ids, marks []ipam.ID
	var stored [][]byte
	for at, stock := range stocks {
		regions, ids = append(regions, at.Region), append(ids, at.ID)
		marks, stored = append(marks, ipam.NewID()), append(stored, rows.EncodeStock(stock))
	}
	if _, err := c.Exec(ctx, restored.Statement("fence_end"), regions, ids); err != nil {
		return err
	}
	_, err = c.Exec(ctx, restored.Statement("fence_write"), regions, ids, marks, stored)
	return err
}
