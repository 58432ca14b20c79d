package storage

import (
	"context"
	"time"
)

// View reads rows: the latest ones, or slightly older ones.
type View interface {
	Reader

	// Snapshot runs fn with reads from one snapshot. fn may run several times.
	Snapshot(ctx context.Context, op string, fn func(ctx context.Context, read Reader) error) error
}

// Moment is the read time of a View that may be some seconds old: the reads include all earlier writes. One request has one Moment and reads
// sequentially.
type Moment struct{ at time.Time }

// Note records another read. The earliest time counts.
func (m *Moment) Note(at time.Time) {
	if m.at.IsZero() || at.Before(m.at) {
		m.at = at.UTC()
	}
}

// At returns the time, or zero if nothing was read.
func (m *Moment) At() time.Time { return m.at }
