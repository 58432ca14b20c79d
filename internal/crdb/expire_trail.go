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

// projectsAtOnce is how many projects are looked at in one read.
const projectsAtOnce = 200

// ExpireEvents deletes all events of the store's region that are older than a time (each region's servers look after its own), project by project in transactions of up to limit rows each,
// and says how many events it were. What was deleted stays deleted when it fails half-way; the next call does the rest.
func (s *Store) ExpireEvents(ctx context.Context, before time.Time, limit int) (int64, error) {
	if err := s.alone(ctx, "feed_keep", func(ctx context.Context, c *conn) error {
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

// ExpireHistory deletes all holds of the store's region that ended before a time, as ExpireEvents deletes events.
func (s *Store) ExpireHistory(ctx context.Context, before time.Time, limit int) (int64, error) {
	return s.expireOfProjects(ctx, "history_oldest", before, func(ctx context.Context, project ipam.ID) (total int64, err error) {
		for {
			var n int64
			err := s.alone(ctx, "history_expire", func(ctx context.Context, c *conn) (err error) {
				n, err = c.affected(ctx, "history_expire", s.region, rows.ID(project), before, limit)
				return err
			})
			if total += n; err != nil || n <= int64(limit) { // more, and those of one moment, where there may be more still
				return total, err
			}
		}
	})
}

// expireOfProjects asks which projects have something that is too old, and has it deleted.
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

// In is the store, of another region's rows. It is the same connections: close the store, and not this.
func (s *Store) In(region string) *Store {
	other := *s
	other.region = region
	return &other
}

// expireTrail deletes the events of one project below an id.
func (s *Store) expireTrail(ctx context.Context, project, below ipam.ID, limit int) (int64, error) {
	var total int64
	for {
		var rows, events int64
		err := s.alone(ctx, "event_expire", func(ctx context.Context, c *conn) (err error) {
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

// expireEvents deletes the first rows of a project's trail in a region, and says how many it were, and how many events were in them.
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

// Purge deletes the trail and the history of projects that were deleted, in transactions of up to limit rows of each, and says how
// many rows it was. It can be interrupted: a project is remembered until nothing of it is left.
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

// purge deletes what a project left behind in all regions, and the note that there is something together with the last of it: what an earlier transaction
// saw to be gone may be there again where a standby has taken over.
func (s *Store) purge(ctx context.Context, project ipam.ID, limit int) (int64, error) {
	regions, err := s.Regions(ctx)
	if err != nil {
		return 0, err
	}
	var total int64
	for {
		var n int64
		more := false
		err := s.alone(ctx, "purge", func(ctx context.Context, c *conn) (err error) {
			n, more = 0, false
			for _, r := range regions {
				var deleted int64
				deleted, more, err = purgeIn(ctx, c, r.Name, project, limit)
				if n += deleted; err != nil || more {
					return err
				}
			}
			_, err = c.affected(ctx, "removal_delete", rows.ID(project)) // none when another server was first
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

// purgeIn deletes the first rows of what a project left behind in a region, and says how many rows it was and whether there may be more.
func purgeIn(ctx context.Context, c *conn, region string, project ipam.ID, limit int) (n int64, more bool, err error) {
	events, _, err := expireEvents(ctx, c, region, project, lookup.LastID, limit)
	if err != nil {
		return 0, false, err
	}
	holds, err := purgeHistory(ctx, c, region, project, limit)
	return events + holds, events >= int64(limit) || holds >= int64(limit), err
}

// purgeHistory deletes the first rows of a project's history in a region, in the order of its key.
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
