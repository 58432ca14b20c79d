package crdb

import (
	"bytes"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/ipam"
)

// projectsAtOnce is the number of projects that one read returns.
const projectsAtOnce = 200

// ExpireEvents deletes all events in the store's region that are older than cutoff, and returns their number. Each region's servers expire only their
// region's rows. ExpireEvents works project by project, with up to limit rows in each transaction. After a failure the events deleted so far stay
// deleted, and the next call continues.
func (s *Store) ExpireEvents(ctx context.Context, cutoff time.Time, limit int) (int64, error) {
	if _, err := s.runAlone(ctx, "feed_keep", cutoff); err != nil {
		return 0, err
	}
	first := ipam.FirstTimeID(cutoff)
	return s.expireOfProjects(ctx, "event_oldest", first, func(ctx context.Context, project ipam.ID) (int64, error) {
		return s.expireTrail(ctx, project, first, limit)
	})
}

// ExpireHistory deletes from the history in the store's region all records that ended before cutoff. A record shows which claim or pool held a block,
// and when. ExpireHistory works like ExpireEvents.
func (s *Store) ExpireHistory(ctx context.Context, cutoff time.Time, limit int) (int64, error) {
	return s.expireOfProjects(ctx, "history_oldest", cutoff, func(ctx context.Context, project ipam.ID) (total int64, err error) {
		for {
			n, err := s.runAlone(ctx, "history_expire", s.region, project, cutoff, limit)
			if total += n; err != nil || n <= int64(limit) { // a full transaction deletes one row more than limit, and also all further rows with the same time
				return total, err
			}
		}
	})
}

// expireOfProjects calls expire for each project that has expired rows. statement is the name of the statement that finds these projects.
func (s *Store) expireOfProjects(ctx context.Context, statement string, cutoff any, expire func(ctx context.Context, project ipam.ID) (int64, error)) (int64, error) {
	var total int64
	for after := ""; ; {
		page, err := s.ProjectList(ctx, after, projectsAtOnce)
		if err != nil || len(page) == 0 {
			return total, err
		}
		after = page[len(page)-1].Name
		ids := make([]ipam.ID, len(page))
		for i, p := range page {
			ids[i] = p.UID
		}
		old, err := lookup.List(ctx, s.Reader, statement, pgx.RowTo[ipam.ID], s.region, ids, cutoff)
		if err != nil {
			return total, err
		}
		for _, id := range old {
			n, err := expire(ctx, id)
			if total += n; err != nil {
				return total, err
			}
		}
	}
}

// In returns a copy of the store that reads and writes another region's rows. Both stores share their connections, so only the original may be
// closed.
func (s *Store) In(region string) *Store {
	other := *s
	other.region = region
	return &other
}

// expireTrail deletes one project's events with ids before endID. It returns their number.
func (s *Store) expireTrail(ctx context.Context, project, endID ipam.ID, limit int) (int64, error) {
	var total int64
	for {
		var rows, events int64
		err := s.inMaintenanceTx(ctx, "event_expire", func(ctx context.Context, c *conn) (err error) {
			rows, events, err = expireEvents(ctx, c, s.region, project, endID, limit)
			return err
		})
		if err != nil {
			return total, err
		}
		if total += events; rows < int64(limit) {
			return total, nil
		}
	}
}

// expireEvents deletes a project's first event rows in a region, up to limit. One row can contain several events. It returns the number of rows and
// the number of events in them.
func expireEvents(ctx context.Context, c *conn, region string, project, endID ipam.ID, limit int) (deleted, events int64, err error) {
	records, err := c.Query(ctx, query.Get("event_expire"), region, project, endID, limit)
	if err != nil {
		return 0, 0, err
	}
	var n int64
	_, err = pgx.ForEachRow(records, []any{&n}, func() error {
		deleted, events = deleted+1, events+n
		return nil
	})
	return deleted, events, err
}

// Purge deletes the events and history that remain from deleted projects, with up to limit rows from each table in a transaction. It returns the
// number of deleted rows. Purge can be interrupted: a project stays listed until all its rows are deleted.
func (s *Store) Purge(ctx context.Context, limit int) (int64, error) {
	var total int64
	for after := (ipam.ID{}); ; {
		gone, err := lookup.List(ctx, s.Reader, "removal_list", pgx.RowTo[ipam.ID], after, projectsAtOnce)
		if err != nil || len(gone) == 0 {
			return total, err
		}
		after = gone[len(gone)-1]
		for _, id := range gone {
			n, err := s.purge(ctx, id, limit)
			if total += n; err != nil {
				return total, err
			}
		}
	}
}

// purge deletes a project's remaining rows in all regions. The last transaction also deletes the note that rows remain. Before that, this transaction
// checks all regions again: after a failover to a standby, rows that an earlier transaction deleted may be back.
func (s *Store) purge(ctx context.Context, project ipam.ID, limit int) (int64, error) {
	regions, err := s.Regions(ctx)
	if err != nil {
		return 0, err
	}
	var total int64
	for {
		var n int64
		more := false
		err := s.inMaintenanceTx(ctx, "purge", func(ctx context.Context, c *conn) (err error) {
			n, more = 0, false
			for _, r := range regions {
				var deleted int64
				deleted, more, err = purgeIn(ctx, c, r.Name, project, limit)
				if n += deleted; err != nil || more {
					return err
				}
			}
			_, err = c.execCount(ctx, "removal_delete", project) // affects no row if another server has deleted the note already
			return err
		})
		if err != nil {
			return total, err
		}
		if total += n; !more {
			return total, nil
		}
	}
}

// purgeIn deletes a project's remaining rows in a region, up to limit from each table. It returns the number of deleted rows, and whether more rows
// may remain.
func purgeIn(ctx context.Context, c *conn, region string, project ipam.ID, limit int) (n int64, more bool, err error) {
	events, _, err := expireEvents(ctx, c, region, project, lookup.LastID, limit)
	if err != nil {
		return 0, false, err
	}
	holds, err := purgeHistory(ctx, c, region, project, limit)
	return events + holds, events >= int64(limit) || holds >= int64(limit), err
}

// purgeHistory deletes a project's first history rows in a region, in primary key order. It deletes about limit rows, and returns their number.
func purgeHistory(ctx context.Context, c *conn, region string, project ipam.ID, limit int) (int64, error) {
	end := struct {
		base  []byte
		plen  int16
		until time.Time
		id    ipam.ID
	}{bytes.Repeat([]byte{0xff}, 17), 0, lookup.LastTime, lookup.LastID} // the initial value is above every address
	records, err := c.Query(ctx, query.Get("history_nth"), region, project, limit)
	if err != nil {
		return 0, err
	}
	if _, err := pgx.ForEachRow(records, []any{&end.base, &end.plen, &end.until, &end.id}, func() error { return nil }); err != nil {
		return 0, err
	}
	return c.execCount(ctx, "history_purge", region, project, end.base, end.plen, end.until, end.id)
}
