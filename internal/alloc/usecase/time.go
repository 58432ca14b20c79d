package usecase

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// timedTx is a transaction that uses the use cases' clock, in the database's resolution.
type timedTx struct {
	storage.Tx

	s       *Core
	changed *changedProjects // nil: no request waits for changes
}

// Now implements Tx.
func (t timedTx) Now() time.Time {
	if t.s.TestClock {
		return t.s.Now()
	}
	return asStored(t.Tx.Now())
}

// Write implements Tx. It gives the events the current time instead of the request's time, because the trail is ordered by event time. Readers may
// already have passed the request's time, and would miss the events.
func (t timedTx) Write(ctx context.Context, ch storage.Changes) error {
	now := t.Now()
	if len(ch.Events) > 0 && !t.s.TestClock && t.s.Clock().Sub(now) > storage.LatestRecord {
		return errRecordedLate
	}
	record(ch.Events, now)
	t.changed.note(ch.Events)
	return t.Tx.Write(ctx, ch)
}

// errRecordedLate refuses an event with a time that is too old. Readers of the trail may already have passed this time.
var errRecordedLate = ipam.Errorf(ipam.CodeContention, "The request took too long. Nothing was changed; repeat it.")

// record sets the time of events. It gives a project's events consecutive ids, so that the database stores them together and in order. The random
// bits come from the id of the project's first event, and later from that of each 65,536th event. These ids are the same in each attempt, so each
// attempt makes the same random bits.
func record(events []ipam.Event, at time.Time) {
	type run struct {
		first ipam.ID
		n     int
	}
	runs := map[ipam.ID]run{}
	for i := range events {
		e := &events[i]
		r := runs[e.ProjectID]
		if r.n%(1<<16) == 0 {
			r.first = e.ID
		}
		e.ID, e.At = r.first.Numbered(at, uint16(r.n%(1<<16))), at //nolint:gosec // the rest of a division by 1<<16
		r.n++
		runs[e.ProjectID] = r
	}
}
