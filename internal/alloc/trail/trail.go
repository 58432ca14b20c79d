package trail

import (
	"bytes"
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// EventFilter selects events. A zero field selects all events.
type EventFilter struct {
	Subject, Operation, Kind, Name, Outcome string
	Since                                   time.Time // inclusive
	Until                                   time.Time // exclusive
}

func (f EventFilter) matches(e *ipam.Event) bool {
	for _, pair := range [][2]string{
		{f.Subject, e.Subject}, {f.Operation, e.Operation}, {f.Kind, e.Kind}, {f.Name, e.Name}, {f.Outcome, e.Outcome},
	} {
		if pair[0] != "" && pair[0] != pair[1] {
			return false
		}
	}
	return (f.Since.IsZero() || !e.At.Before(f.Since)) && (f.Until.IsZero() || e.At.Before(f.Until))
}

// idRange returns the id range for events in the filter's period. The bound first is inclusive, and end is exclusive. A zero bound means no bound.
// The bounds are whole milliseconds, so the range may include a few events outside the period. The method matches rejects them.
func (f EventFilter) idRange() (first, end ipam.ID) {
	if !f.Since.IsZero() {
		first = ipam.FirstTimeID(f.Since)
	}
	if !f.Until.IsZero() {
		end = ipam.FirstTimeID(f.Until.Add(time.Millisecond))
	}
	return first, end
}

// ListEvents lists a project's audit trail, newest first.
func (s *Trail) ListEvents(ctx context.Context, project string, f EventFilter, limit int, cursor string, r usecase.Reading,
) (paging.Page[ipam.Event], error) {
	_, key, err := s.Enter(ctx, tenancy.AuditRead, project)
	if err != nil {
		return paging.Page[ipam.Event]{}, err
	}
	read := s.View(r)
	from, newest := f.idRange()
	return paging.Scan(ctx, s.Searching, paging.ListOf("events", key.ID, f), cursor, limit, func(after ipam.ID, n int) ([]ipam.Event, error) {
		before := after
		if after.IsZero() || (!newest.IsZero() && bytes.Compare(newest[:], after[:]) < 0) {
			before = newest
		}
		return read.EventList(ctx, key, from, before, n)
	}, f.matches, func(e ipam.Event) ipam.ID { return e.ID })
}
