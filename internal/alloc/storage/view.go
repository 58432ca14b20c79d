package storage

import (
	"context"
	"time"
)

// View is the rows as somebody reads them.
type View interface {
	Reader

	// OneMoment runs fn with reads that are all of one moment. fn may run several times.
	OneMoment(ctx context.Context, op string, fn func(ctx context.Context, read Reader) error) error
}

// Moment is when the reads of a View were that may be some seconds old: everything that was written before it is in what was read. One request has
// one, and reads one thing after another.
type Moment struct{ at time.Time }

// Note tells of another read. Of several the earliest counts.
func (m *Moment) Note(at time.Time) {
	if m.at.IsZero() || at.Before(m.at) {
		m.at = at.UTC()
	}
}

// At is zero when nothing was read.
func (m *Moment) At() time.Time { return m.at }
