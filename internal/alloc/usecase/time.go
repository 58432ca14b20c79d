package usecase

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
)

// timedTx is a transaction whose time is the service's, as the database stores it.
type timedTx struct {
	storage.Tx

	s *Core
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
	at := t.Now()
	for i := range ch.Events {
		e := &ch.Events[i]
		e.ID, e.At = e.ID.MovedTo(at), at
	}
	return t.Tx.Write(ctx, ch)
}
