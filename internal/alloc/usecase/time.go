package usecase

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// timedTx is a transaction with the service's clock, in the database's resolution.
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

// Write implements Tx. It dates the events now, however long the request has waited. The trail is ordered by event time. An event with the request's
// time could come before the positions that readers have already passed.
func (t timedTx) Write(ctx context.Context, ch storage.Changes) error {
	now := t.Now()
	if len(ch.Events) > 0 && !t.s.OwnClock && t.s.Clock().Sub(now) > storage.LatestRecord {
		return errRecordedLate
	}
	record(ch.Events, now)
	t.changed.note(ch.Events)
	return t.Tx.Write(ctx, ch)
}

// errRecordedLate refuses an event that would come before positions that readers of the trail have already passed.
var errRecordedLate = ipam.Errorf(ipam.CodeContention, "The request took too long. Nothing was changed; repeat it.")

// record gives events their time, and gives the events of one project consecutive ids in their order, because such events are stored together. It
// takes the random bits from the project's first event, and again from each 65,536th. So another attempt writes the same ids.
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
