package scale

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"time"
)

// Point has the figures of one operation in one cell of an axis.
type Point struct {
	Axis, Cell, Operation string

	P95      float64 // in milliseconds
	P99Ratio float64 // p99 divided by the p99 of the smallest cell
}

// Points measures some axes with the given sizes. It measures claims, often enough for a meaningful p99, and pages of lists. It checks the data by
// counts only, because an audit would take longer than all the rest. directory is for a private database.
func Points(ctx context.Context, directory string, sizes map[string][]string) (points []Point, err error) {
	db, err := startDatabase(ctx, directory, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	o := options{sizes: sizes, bounds: bounds{operations: 80 * claimRun, time: 20 * time.Second}, operations: slices.DeleteFunc(reads(), func(op operation) bool {
		return op.name != OpList && op.name != OpListInPool
	})}
	for _, a := range axes() {
		if len(sizes[a.name]) == 0 {
			continue
		}
		cells, err := o.cells(a)
		if err != nil {
			return nil, err
		}
		results, err := measureAxis(ctx, db, a, cells, o, slog.New(slog.NewTextHandler(os.Stderr, nil)))
		if err == nil {
			err = verdict(results)
		}
		if err != nil {
			return points, err
		}
		for _, r := range results[1:] {
			for _, l := range r.Lines {
				points = append(points, Point{Axis: a.name, Cell: r.Cell, Operation: l.Operation, P95: l.P95, P99Ratio: l.Ratios.P99})
			}
		}
	}
	return points, nil
}
