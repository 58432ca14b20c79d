package storage

import (
	"context"
	"time"
)

// View reads rows. They are the latest rows, or rows that are some seconds old.
type View interface {
	Reader

	// Snapshot runs fn with reads that all see the same snapshot. fn may run several times.
	Snapshot(ctx context.Context, op string, fn func(ctx context.Context, read Reader) error) error
}

// Moment is the time of the reads in a View that may be some seconds old. The reads include all writes before this time. One request has one Moment,
// and its reads must be sequential.
type Moment struct{ at time.Time }

// Note records the time of another read. The Moment keeps the earliest time.
func (m *Moment) Note(at time.Time) {
	if m.at.IsZero() || at.Before(m.at) {
		m.at = at.UTC()
	}
}

// At returns the time, or zero if nothing was read.
func (m *Moment) At() time.Time { return m.at }
