package crdb

import (
	"bytes"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// projectsAtOnce bounds the projects in one read.
const projectsAtOnce = 200

// ExpireEvents deletes all events in the store's region that are older than a time, and returns their number. Each region's servers expire their own
// rows. It works project by project, with up to limit rows in each transaction. After a failure the deleted events stay deleted, and the next call
// deletes the rest.
func (s *Store) ExpireEvents(ctx context.Context, before time.Time, limit int) (int64, error) {
	if err := s.inMaintenanceTx(ctx, "feed_keep", func(ctx context.Context, c *conn) error {
		_, err := c.Exec(ctx, query.Get("feed_keep"), before)
		return err
	}); err != nil {
		return 0, err
	}
	first := ipam.FirstTimeID(before)
	return s.expireOfProjects(ctx, "event_oldest", rows.ID(first), func(ctx context.Context, project ipam.ID) (int64, error) {
		return s.expireTrail(ctx, project, first, limit)
	})
}

// ExpireHistory deletes all holds in the store's region that ended before a time, as ExpireEvents deletes events.
func (s *Store) ExpireHistory(ctx context.Context, before time.Time, limit int) (int64, error) {
	return s.expireOfProjects(ctx, "history_oldest", before, func(ctx context.Context, project ipam.ID) (total int64, err error) {
		for {
			var n int64
			err := s.inMaintenanceTx(ctx, "history_expire", func(ctx context.Context, c *conn) (err error) {
				n, err = c.affected(ctx, "history_expire", s.region, rows.ID(project), before, limit)
				return err
			})
			if total += n; err != nil || n <= int64(limit) { // a full transaction deletes one row more, and all rows from its last moment
				return total, err
			}
		}
	})
}

// expireOfProjects finds the projects with expired rows and calls expire for each.
func (s *Store) expireOfProjects(ctx context.Context, oldest string, before any, expire func(ctx context.Context, project ipam.ID) (int64, error)) (int64, error) {
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
		old, err := lookup.List(ctx, s.Reader, oldest, lookup.ScanID, s.region, rows.IDs(ids), before)
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

// In returns the same store for another region's rows. Both share their connections: close only the original.
func (s *Store) In(region string) *Store {
	other := *s
	other.region = region
	return &other
}

// expireTrail deletes one project's events below an id.
func (s *Store) expireTrail(ctx context.Context, project, below ipam.ID, limit int) (int64, error) {
	var total int64
	for {
		var rows, events int64
		err := s.inMaintenanceTx(ctx, "event_expire", func(ctx context.Context, c *conn) (err error) {
			rows, events, err = expireEvents(ctx, c, s.region, project, below, limit)
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

// expireEvents deletes the first rows from a project's trail in a region. It returns their number and how many events they had.
func expireEvents(ctx context.Context, c *conn, region string, project, below ipam.ID, limit int) (deleted, events int64, err error) {
	answer, err := c.Query(ctx, query.Get("event_expire"), region, rows.ID(project), rows.ID(below), limit)
	if err != nil {
		return 0, 0, err
	}
	var n int64
	_, err = pgx.ForEachRow(answer, []any{&n}, func() error {
		deleted, events = deleted+1, events+n
		return nil
	})
	return deleted, events, err
}

// Purge deletes the trail and the history that deleted projects left, with up to limit rows from each in a transaction, and returns the row count. It
// can be interrupted: a project stays listed until all its rows are deleted.
func (s *Store) Purge(ctx context.Context, limit int) (int64, error) {
	var total int64
	for after := (ipam.ID{}); ; {
		gone, err := lookup.List(ctx, s.Reader, "removal_list", lookup.ScanID, rows.ID(after), projectsAtOnce)
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

// purge deletes a project's remaining rows in all regions. The last transaction also deletes the note that rows remain. It checks all regions again,
// because rows that an earlier transaction deleted may be back after the failover to a standby.
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
			_, err = c.affected(ctx, "removal_delete", rows.ID(project)) // affects no row when another server was first
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

// purgeIn deletes a project's first remaining rows in a region. It returns their number, and whether more may remain.
func purgeIn(ctx context.Context, c *conn, region string, project ipam.ID, limit int) (n int64, more bool, err error) {
	events, _, err := expireEvents(ctx, c, region, project, lookup.LastID, limit)
	if err != nil {
		return 0, false, err
	}
	holds, err := purgeHistory(ctx, c, region, project, limit)
	return events + holds, events >= int64(limit) || holds >= int64(limit), err
}

// purgeHistory deletes the first rows from a project's history in a region, in primary key order.
func purgeHistory(ctx context.Context, c *conn, region string, project ipam.ID, limit int) (int64, error) {
	end := struct {
		base  []byte
		plen  int16
		until time.Time
		id    ipam.ID
	}{bytes.Repeat([]byte{0xff}, 17), 0, lookup.LastTime, lookup.LastID} // above every address
	answer, err := c.Query(ctx, query.Get("history_nth"), region, rows.ID(project), limit)
	if err != nil {
		return 0, err
	}
	if _, err := pgx.ForEachRow(answer, []any{&end.base, &end.plen, &end.until, (*[16]byte)(&end.id)}, func() error { return nil }); err != nil {
		return 0, err
	}
	return c.affected(ctx, "history_purge", region, rows.ID(project), end.base, end.plen, end.until, rows.ID(end.id))
}
