package schema

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/outcome"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ddl is a statement of the deployment, and what to say when it is done; not sent when it is empty.
type ddl struct{ sql, said string }

// standing is what a database says of its regions.
type standing struct {
	database string
	there    []string // the regions of the engine's own, in its order
	order    []string // in which they were added, as far as that is known; the first is the primary one

	// CockroachDB alone.
	kept    []string // regions that a list must have even where no migration recorded them; a value of PostgreSQL's type is none, it cannot be taken away
	primary string
	goal    string   // SurviveZone or SurviveRegion; empty before there is a primary region
	cluster []string // where nodes are
}

// check refuses what no database could have.
func (o MigrateOptions) check() error {
	if len(o.Regions) == 0 {
		return fmt.Errorf("%w: give at least one", ErrRegion)
	}
	for i, name := range o.Regions {
		if !ipam.ValidName(name) {
			return fmt.Errorf("%w: %q is not a DNS label: 1 to 63 of a-z, 0-9 and -, beginning and ending with a letter or digit", ErrRegion, name)
		}
		if slices.Contains(o.Regions[:i], name) {
			return fmt.Errorf("%w: %q is listed twice", ErrRegion, name)
		}
	}
	switch o.Survive {
	case "", SurviveZone, SurviveRegion:
		return nil
	default:
		return fmt.Errorf("%w: a database survives the loss of a %s or of a %s, not of a %q", ErrRegion, SurviveZone, SurviveRegion, o.Survive)
	}
}

// planRegions is what is to be done to the regions, or why it cannot be.
func planRegions(ctx context.Context, eng engine, c *pgx.Conn, o MigrateOptions) ([]ddl, error) {
	written, err := Regions(ctx, c)
	if err != nil {
		return nil, err
	}
	now, err := eng.standing(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("cannot read the database's regions: %w", err)
	}
	if len(written) > 0 {
		now.order = namesOf(written)
	}
	if err := now.allows(o.Regions); err != nil {
		return nil, err
	}
	return eng.regionSteps(now, o)
}

// allows refuses a list that would take a region away, or change the order of those that are there. The order decides into what a backup can be
// restored, so that it is the same for ever.
func (s standing) allows(want []string) error {
	if len(s.order) == 0 {
		return nil
	}
	whole := slices.Clone(s.order)
	for _, name := range append(slices.Clone(s.kept), want...) {
		if !slices.Contains(whole, name) {
			whole = append(whole, name)
		}
	}
	for _, name := range whole {
		if !slices.Contains(want, name) {
			return fmt.Errorf("%w: the database has %q, and regions are only added: list it too, --regions %s", ErrRegion, name, strings.Join(whole, ","))
		}
	}
	if !slices.Equal(want[:len(s.order)], s.order) {
		return fmt.Errorf("%w: the database's regions were added in the order %s, with %q as the primary one, and stay in it: --regions %s",
			ErrRegion, quoted(s.order), s.order[0], strings.Join(whole, ","))
	}
	return nil
}

// take runs steps one after another, and answers how many there were that changed something. Each says of itself that it may run twice.
func (o MigrateOptions) take(ctx context.Context, c *pgx.Conn, steps []ddl) (done int, err error) {
	for _, s := range steps {
		if s.sql != "" {
			if err := alter(ctx, c, s.sql); err != nil {
				return done, fmt.Errorf("cannot bring the database to its regions (run the same command again when this is mended): %s: %w", s.sql, err)
			}
			done++
		}
		o.say(s.said)
	}
	return done, nil
}

// alter runs a statement that may run twice, and does when the database asks for it.
func alter(ctx context.Context, c *pgx.Conn, sql string, args ...any) error {
	for n := 0; ; n++ {
		_, err := c.Exec(ctx, sql, args...)
		if end, _ := outcome.Classify(err); err == nil || end != outcome.Again || n+1 >= outcome.MaxAttempts || c.IsClosed() || !outcome.Pause(ctx, n, end) {
			return err
		}
	}
}

// record writes down which regions there are, and in which order they were added; it answers how many of them are new.
func (o MigrateOptions) record(ctx context.Context, c *pgx.Conn) (done int, err error) {
	written, err := Regions(ctx, c)
	if err != nil {
		return 0, err
	}
	next := 0
	for _, r := range written {
		next = max(next, r.Ordinal+1)
	}
	var now time.Time // by the clock that everything else goes by
	if err := c.QueryRow(ctx, query.Get("clock_read")).Scan(&now); err != nil {
		return 0, fmt.Errorf("cannot read the database's clock: %w", err)
	}
	for _, name := range o.Regions {
		if slices.Contains(namesOf(written), name) {
			continue
		}
		if err := alter(ctx, c, query.Get("region_insert"), name, next, now); err != nil {
			return done, fmt.Errorf("cannot write down the region %q (run the same command again when this is mended): %w", name, err)
		}
		next++
		done++
	}
	return done, nil
}
