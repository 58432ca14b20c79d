package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/ipam"
)

// ofRegion lists the tables that store a region's own rows, such as free blocks and holds. A restore replaces all of them together.
var ofRegion = []string{"free_blocks", "fences", "holds", "stocks", "idempotency_keys"}

// restored describes the region that a restore sets back. Its rows get an older state while the rest of the database stays.
type restored struct {
	region string
	copied chan struct{}   // closed when a copy exists
	apart  map[string]bool // claims that exist only in the copy or only in the region's rows before the restore
	fenced []string        // pools whose rows and loan records are of different times, so the region must not serve them

	asked atomic.Pointer[region] // the region between its restore and the operator's reconciliation, or nil
}

// divert sends half of the claims to the restored region until the operator reconciles it. Clients that do not know of the restore would do the same.
// In that time the region serves claims from rows of an earlier time.
func (run *run) divert(op *Op) {
	r := run.restored.asked.Load()
	if r == nil || op.Number%2 == 0 {
		return
	}
	switch op.Kind {
	case Claim, ClaimBlock, Put, Generated, Batch:
		op.Server, op.Hop, op.Leave = r.index, false, true
	default:
	}
}

// copyRows copies the rows of a region into new tables, as a backup would.
func (run *run) copyRows(ctx context.Context, region string) error {
	defer close(run.restored.copied)
	return run.superuser(ctx, pgx.RepeatableRead, func(tx pgx.Tx) error {
		for _, table := range ofRegion {
			if _, err := tx.Exec(ctx, "CREATE TABLE kept_"+table+" AS SELECT * FROM "+table+" WHERE region = '"+region+"'"); err != nil {
				return err
			}
		}
		return nil
	})
}

// putBack restores the rows of one region in one transaction. It also finds the claims that the restore affects.
func (run *run) putBack(ctx context.Context, region string) error {
	select {
	case <-run.restored.copied:
	case <-ctx.Done():
		return ctx.Err()
	}
	var apart, fenced []string
	err := run.superuser(ctx, pgx.ReadCommitted, func(tx pgx.Tx) (err error) {
		// The lock waits for transactions that have begun to read these tables.
		if _, err := tx.Exec(ctx, "LOCK TABLE "+strings.Join(ofRegion, ", ")+" IN ACCESS EXCLUSIVE MODE"); err != nil {
			return err
		}
		if apart, err = names(ctx, tx, `SELECT coalesce(c.name, k.name) FROM (SELECT * FROM holds WHERE name IS NOT NULL AND region = '`+region+`') AS c
			FULL JOIN (SELECT * FROM kept_holds WHERE name IS NOT NULL) AS k ON k.claim_id = c.claim_id WHERE c.id IS NULL OR k.id IS NULL`); err != nil {
			return err
		}
		for _, table := range ofRegion {
			if _, err := tx.Exec(ctx, "DELETE FROM "+table+" WHERE region = '"+region+"'"); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "INSERT INTO "+table+" SELECT * FROM kept_"+table); err != nil {
				return err
			}
		}
		fenced, err = names(ctx, tx, `SELECT p.name FROM pool_regions AS r JOIN stocks AS s ON s.region = r.region AND s.pool_id = r.pool_id
			JOIN pools AS p ON p.id = r.pool_id WHERE r.region = '`+region+`' AND r.epoch <> s.epoch`)
		return err
	})
	if err != nil {
		return err
	}
	run.restored.region, run.restored.fenced = region, fenced
	run.setApart(apart)
	run.ledger.note("", "restored: %s alone; %d claims are told apart; of another time than the record of loans: %v", region, len(apart), fenced)
	for range fenced {
		run.ledger.count("pool fenced off")
	}
	return nil
}

func (run *run) setApart(list []string) {
	for _, name := range list {
		run.restored.apart[name] = true
	}
}

// isApart reports whether the restore affects a claim. The label is the claim's name, or the prefix of its generated name.
func (run *run) isApart(label string) bool {
	for name := range run.restored.apart {
		if name == label || strings.HasPrefix(name, label+"-") && !strings.Contains(strings.TrimPrefix(name, label+"-"), "-") {
			return true
		}
	}
	return false
}

// fencedOff checks that the region refuses each pool that it must not serve. It sends a dry run of a claim, and the response must be 503 unavailable.
func (run *run) fencedOff(ctx context.Context, r *region) {
	for _, pool := range run.restored.fenced {
		spec := obj{"poolRef": obj{"name": pool}, "prefixLength": run.plan.unit(pool)}
		q := request{
			method: http.MethodPost, path: at("claims") + "?dryRun=true", patience: run.plan.Timeout,
			body: obj{"metadata": obj{"name": "probe"}, "spec": spec},
		}
		for try := range maxTries {
			a := run.caller.do(ctx, r, q)
			if a.meaning() == succeeded || a.meaning() == refused {
				run.ledger.violated("fenced", pool, "its rows in %s are of another time than the record of its loans, and it is drawn from: %d %s", r.name, a.status, a.body)
				break
			}
			if a.code == ipam.CodeUnavailable && strings.Contains(string(a.body), "reconcile") {
				run.ledger.count("fenced off, as it should be")
				break
			}
			wait(ctx, time.Duration(20+10*try)*time.Millisecond)
		}
	}
}

// reconcile does the operator's work until the region serves every pool again. The region's rows may contain a block that is not part of the region's
// share. Such a block may belong to another region now. So the claim that the copy brought back for such a block must go.
func (run *run) reconcile(ctx context.Context) error {
	var last string
	for range 5 {
		out, err := run.cluster.ipamctl(ctx, "region", "reconcile", "--region="+run.restored.region, "--repair", "-o", "json", "--database-url="+run.db.dsn)
		if err == nil {
			run.ledger.note("", "reconciled: %s", out)
			run.ledger.count("region reconciled")
			return nil
		}
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
			return fmt.Errorf("ipamctl region reconcile: %w: %s", err, out)
		}
		var found struct {
			Items []struct{ Held []netip.Prefix }
		}
		if err := json.Unmarshal([]byte(out), &found); err != nil {
			return fmt.Errorf("ipamctl region reconcile: %w: %s", err, out)
		}
		for _, item := range found.Items {
			for _, held := range item.Held {
				if err := run.evict(ctx, held); err != nil {
					return err
				}
			}
		}
		last = out
	}
	return fmt.Errorf("ipamctl region reconcile does not end: %s", last)
}

// evict deletes the claims whose blocks overlap the given block in the region's rows.
func (run *run) evict(ctx context.Context, held netip.Prefix) error {
	return run.superuser(ctx, pgx.Serializable, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "SELECT name, base, plen, id::TEXT FROM holds WHERE name IS NOT NULL AND region = '"+run.restored.region+"'")
		if err != nil {
			return err
		}
		type claim struct {
			Name string
			Base []byte
			Plen int16
			ID   string
		}
		all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[claim])
		if err != nil {
			return err
		}
		for _, c := range all {
			at, _ := netip.AddrFromSlice(c.Base)
			if !netip.PrefixFrom(at, int(c.Plen)).Overlaps(held) {
				continue
			}
			if !run.restored.apart[c.Name] {
				run.ledger.violated("told", c.Name, "was made after the restore, of a block (%v) that is not the region's", held)
			}
			run.ledger.count("claims evicted after the restore")
			if _, err := tx.Exec(ctx, "DELETE FROM holds WHERE region = '"+run.restored.region+"' AND id::TEXT = $1", c.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// pardon removes the violations about claims that the restore affects. Such claims may be lost or come back, because only one region was restored.
func (run *run) pardon() {
	if len(run.restored.apart) == 0 {
		return
	}
	run.ledger.sift(func(v Violation) bool {
		switch v.Check {
		case "lost", "told", "unreachable", "leaked":
			if run.isApart(v.About) {
				run.ledger.tally["told apart after the restore"]++
				return false
			}
		}
		return true
	})
}

// superuser runs a transaction directly on the database, without the servers and the faults. It retries after a conflict.
func (run *run) superuser(ctx context.Context, level pgx.TxIsoLevel, fn func(pgx.Tx) error) error {
	for try := 0; ; try++ {
		err := func() error {
			conn, err := pgx.Connect(ctx, run.db.dsn)
			if err != nil {
				return err
			}
			defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
			return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: level}, fn) //nolint:forbidigo // not the service: the operator who restores
		}()
		if err == nil || try == 20 || !wait(ctx, 50*time.Millisecond) {
			return err
		}
	}
}

func names(ctx context.Context, tx pgx.Tx, sql string, args ...any) ([]string, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
