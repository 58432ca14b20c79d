package scale

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// measureAxis measures the cells of an axis. It measures each cell together with the smallest one, in turn. At most two cells exist at a time.
func measureAxis(ctx context.Context, db *database, a *axis, cells []cell, o options, log *slog.Logger) (results []*result, err error) {
	smallest, first, err := makeCell(ctx, db, a, cells[0], log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, smallest.close()) }()
	results = []*result{first}
	for _, c := range cells[1:] {
		r, err := measureCell(ctx, db, a, c, smallest, first, o, log)
		if err != nil {
			return nil, fmt.Errorf("axis %s, %s: %w", a.name, c.label, err)
		}
		results = append(results, r)
	}
	check(ctx, smallest, cells[0], first, o.auditRows) // every measurement used the smallest cell, so its data are checked last
	return results, ctx.Err()
}

// measureCell measures a cell and the smallest cell in turn. The first call also fills first, the result of the smallest cell.
func measureCell(ctx context.Context, db *database, a *axis, c cell, smallest *world, first *result, o options, log *slog.Logger) (r *result, err error) {
	w, r, err := makeCell(ctx, db, a, c, log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := db.Settle(ctx, smallest.name); err != nil { // settle the data that the earlier measurements left behind
		return nil, err
	}
	got, err := measure(ctx, [2]*world{smallest, w}, o.operations, o.bounds)
	if err != nil {
		return nil, err
	}
	names := []string{OpClaim, opRelease}
	for _, op := range o.operations {
		names = append(names, op.name)
	}
	if first.Lines == nil {
		first.Lines = compareLines(names, got[0], got[0])
	}
	r.Lines = compareLines(names, got[1], got[0])
	for _, l := range r.Lines {
		r.Grown = append(r.Grown, grown(a.name, c.label, l)...)
	}
	log.InfoContext(ctx, "measured", "axis", a.name, "cell", c.label)
	check(ctx, w, c, r, o.auditRows)
	return r, ctx.Err()
}

func makeCell(ctx context.Context, db *database, a *axis, c cell, log *slog.Logger) (*world, *result, error) {
	begin := time.Now()
	w, err := newWorld(ctx, db, c.seed)
	if err != nil {
		return nil, nil, fmt.Errorf("axis %s, loading %s: %w", a.name, c.label, err)
	}
	r := &result{Axis: a.name, Cell: c.label, Shape: c.shape, Size: c.size, Seeded: time.Since(begin).Seconds()}
	if err := db.Admin.QueryRow(ctx, "SELECT pg_database_size($1) >> 20", w.name).Scan(&r.Megabytes); err != nil {
		return nil, nil, errors.Join(err, w.close())
	}
	log.InfoContext(ctx, "loaded", "axis", a.name, "cell", c.label, "seconds", int(r.Seeded), "megabytes", r.Megabytes)
	return w, r, nil
}

// check audits the data after all measurements. In a large cell it only compares quick counts. Its findings become part of the result.
func check(ctx context.Context, w *world, c cell, r *result, auditRows int) {
	begin := time.Now()
	r.Checked = "audited"
	var err error
	if c.rows <= auditRows {
		err = w.audit(ctx)
	} else {
		r.Checked = "counted"
		err = w.recount(ctx)
	}
	r.Checking = time.Since(begin).Seconds()
	if err != nil {
		r.Broken = err.Error()
	}
}
