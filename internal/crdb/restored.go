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

// Epochs says what RenewEpochs did.
type Epochs struct {
	Renewed int      // pools, counted in each of their regions
	Fenced  []string // pool and region whose two epochs differ: they stay as they are, and the region's rows are not trusted
}

// RenewEpochs gives every pool in every region a new epoch, in both of its places and in one transaction: what was read before the restore fits
// nothing that is there now. Cursors of the feed are of no use any more, nobody is signed in to the console, and webhooks send nothing until somebody sets them going. All fences are written anew, each with another mark and with the stock that its rows come to. Where the two places differ, one of them was restored to another time than the other; to make them equal would be to
// say that nothing is wrong, and they stay as they are. No server may run on the database.
func RenewEpochs(ctx context.Context, dsn string) (Epochs, error) {
	s, err := Open(ctx, dsn, Options{MaxConnections: 1})
	if err != nil {
		return Epochs{}, err
	}
	defer s.Close()
	var done Epochs
	fresh := map[epochKey][16]byte{} // prepared for every run of the transaction
	err = s.alone(ctx, "epochs_renew", func(ctx context.Context, c *conn) error {
		if done, err = renewEpochs(ctx, c, fresh); err != nil {
			return err
		}
		if _, err := c.Exec(ctx, restored.Statement("feed_forget")); err != nil {
			return err
		}
		if _, err := c.Exec(ctx, restored.Statement("session_end")); err != nil {
			return err
		}
		if _, err := c.Exec(ctx, restored.Statement("webhook_stop"), string(ipam.StoppedRestored)); err != nil {
			return err
		}
		return renewFences(ctx, c)
	})
	return done, err
}

type epochKey struct {
	pool   [16]byte
	region string
}

func renewEpochs(ctx context.Context, c *conn, fresh map[epochKey][16]byte) (done Epochs, err error) {
	answer, err := c.Query(ctx, restored.Statement("epoch_pairs"))
	if err != nil {
		return done, err
	}
	var pools, was, now [][16]byte
	var regions []string
	var at epochKey
	var recorded [16]byte
	var beside *[16]byte
	if _, err := pgx.ForEachRow(answer, []any{&at.pool, &at.region, &recorded, &beside}, func() error {
		if beside == nil || *beside != recorded {
			done.Fenced = append(done.Fenced, ipam.ID(at.pool).String()+" in "+at.region)
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
			return done, fmt.Errorf("%s touched %d rows of %d: is a server running?", name, tag.RowsAffected(), len(pools))
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
	var ids, marks [][16]byte
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
