package usecase

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// timedTx is a transaction whose time is the service's, as the database stores it.
type timedTx struct {
	storage.Tx

	s   *Core
	did *wrote // nil: nobody waits for it
}

// Now implements Tx.
func (t timedTx) Now() time.Time {
	if t.s.OwnClock {
		return t.s.Now()
	}
	return asStored(t.Tx.Now())
}

// Write implements Tx. What is recorded happens now, however long its request has waited: the trail is in the order of its events' times, and an event
// that came into it with the time of the request would come where readers have been already.
func (t timedTx) Write(ctx context.Context, ch storage.Changes) error {
	now := t.Now()
	if len(ch.Events) > 0 && !t.s.OwnClock && t.s.Clock().Sub(now) > storage.LatestRecord {
		return errRecordedLate
	}
	record(ch.Events, now)
	t.did.note(ch.Events)
	return t.Tx.Write(ctx, ch)
}

// errRecordedLate refuses what would come into the trail where those have been already who follow it.
var errRecordedLate = ipam.Errorf(ipam.CodeContention, "The request was held up for too long. Nothing was changed; repeat it.")

// record gives events their time, and those of one project consecutive ids, in the order in which they come: such events are stored together. The
// random bits are those of the project's first event, or, beyond 65,536, of every 65,536th: a transaction that runs again writes the same ids.
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
