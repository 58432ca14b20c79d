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

// ddl is a statement that changes a database, and the message that is reported after the statement. If sql is empty, only the message is reported.
type ddl struct{ sql, message string }

// regionState describes a database's current regions.
type regionState struct {
	database string
	there    []string // the regions that the engine itself knows, in its order
	order    []string // the order in which the regions were added, as far as it is known; the first is the primary one

	// The fields below are for CockroachDB only.
	kept    []string // regions that the requested list must contain, even if no migration has recorded them; empty on PostgreSQL, where a region cannot be lost
	primary string
	goal    string   // SurviveZone or SurviveRegion; "" before the database has a primary region
	cluster []string // regions in which the cluster has nodes
}

// check returns an error for options that no database could satisfy.
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

// planRegions returns the statements that add the requested regions. If the database cannot have them, it returns an error.
func planRegions(ctx context.Context, eng engine, c *pgx.Conn, o MigrateOptions) ([]ddl, error) {
	written, err := Regions(ctx, c)
	if err != nil {
		return nil, err
	}
	now, err := eng.readRegions(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("cannot read the database's regions: %w", err)
	}
	if len(written) > 0 {
		now.order = namesOf(written)
	}
	if err := now.checkRegions(o.Regions); err != nil {
		return nil, err
	}
	return eng.regionSteps(now, o)
}

// checkRegions returns an error for a list that removes or reorders existing regions. The order must never change, because it decides into which
// databases a backup can be restored.
func (s regionState) checkRegions(want []string) error {
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
			return fmt.Errorf("%w: the database has %q, and `ipamctl migrate` only adds regions; list it too, --regions %s", ErrRegion, name, strings.Join(whole, ","))
		}
	}
	if !slices.Equal(want[:len(s.order)], s.order) {
		return fmt.Errorf("%w: the database's regions keep the order %s, with %q as the primary one; use --regions %s",
			ErrRegion, quoted(s.order), s.order[0], strings.Join(whole, ","))
	}
	return nil
}

// take runs steps in order and returns the number of statements that it ran. Every step is safe to run twice.
func (o MigrateOptions) take(ctx context.Context, c *pgx.Conn, steps []ddl) (done int, err error) {
	for _, s := range steps {
		if s.sql != "" {
			if err := alter(ctx, c, s.sql); err != nil {
				return done, fmt.Errorf("cannot add the regions to the database (fix the cause and run the same command again): %s: %w", s.sql, err)
			}
			done++
		}
		o.report(s.message)
	}
	return done, nil
}

// alter runs a statement that is safe to run twice. It retries the statement when the database asks for a retry.
func alter(ctx context.Context, c *pgx.Conn, sql string, args ...any) error {
	for n := 0; ; n++ {
		_, err := c.Exec(ctx, sql, args...)
		if end, _ := outcome.Classify(err); err == nil || end != outcome.Retry || n+1 >= outcome.MaxAttempts || c.IsClosed() || !outcome.Pause(ctx, n, end) {
			return err
		}
	}
}

// record stores the new regions in the order in which they were added. It returns their number.
func (o MigrateOptions) record(ctx context.Context, c *pgx.Conn) (done int, err error) {
	written, err := Regions(ctx, c)
	if err != nil {
		return 0, err
	}
	next := 0
	for _, r := range written {
		next = max(next, r.Ordinal+1)
	}
	var now time.Time // by the database's clock, like all stored times
	if err := c.QueryRow(ctx, query.Get("clock_read")).Scan(&now); err != nil {
		return 0, fmt.Errorf("cannot read the database's clock: %w", err)
	}
	for _, name := range o.Regions {
		if slices.Contains(namesOf(written), name) {
			continue
		}
		if err := alter(ctx, c, query.Get("region_insert"), name, next, now); err != nil {
			return done, fmt.Errorf("cannot record the region %q (fix the cause and run the same command again): %w", name, err)
		}
		next++
		done++
	}
	return done, nil
}
