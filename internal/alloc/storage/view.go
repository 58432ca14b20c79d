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

// Moment is the time that a stale View shows: its reads see all writes before this time, and may miss later ones. Each request has one Moment, and
// makes its reads one after another.
type Moment struct{ at time.Time }

// Note records the time of another read. The Moment keeps the earliest time.
func (m *Moment) Note(readAt time.Time) {
	if m.at.IsZero() || readAt.Before(m.at) {
		m.at = readAt.UTC()
	}
}

// At returns the time, or zero if nothing was read.
func (m *Moment) At() time.Time { return m.at }
