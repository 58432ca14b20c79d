package usecase

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// timedTx is a transaction that uses the clock of the use cases, in the resolution of the database.
type timedTx struct {
	storage.Tx

	s       *Core
	changed *changedProjects // nil: no request waits for changes
}

// Now implements Tx.
func (t timedTx) Now() time.Time {
	if t.s.OwnClock {
		return t.s.Now()
	}
	return asStored(t.Tx.Now())
}

// Write implements Tx. It sets the time of the events to the current time, not to the time of the request. The trail is ordered by the time of
// events. Readers may already have passed the time of the request, and would miss the events.
func (t timedTx) Write(ctx context.Context, ch storage.Changes) error {
	now := t.Now()
	if len(ch.Events) > 0 && !t.s.OwnClock && t.s.Clock().Sub(now) > storage.LatestRecord {
		return errRecordedLate
	}
	record(ch.Events, now)
	t.changed.note(ch.Events)
	return t.Tx.Write(ctx, ch)
}

// errRecordedLate refuses an event whose time is too old. Readers of the trail may already have passed this time.
var errRecordedLate = ipam.Errorf(ipam.CodeContention, "The request took too long. Nothing was changed; repeat it.")

// record sets the time of events. It gives the events of one project consecutive ids, so that they are stored together in their order. The random
// bits come from the first event of the project, and again from each 65,536th event. So another attempt writes the same ids.
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
