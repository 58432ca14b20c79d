package rows

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/klauspost/compress/s2"

	"github.com/carve-ipam/carve/internal/ipam"
)

// EventRow is a row in the audit trail. Its events have the same project, the same time and consecutive ids.
type EventRow struct {
	ProjectID ipam.ID
	ID        ipam.ID // the first event's id
	Count     int16
	Events    []byte // the byte eventsFormat, and then the compressed text
}

// The text begins with the events' time, in microseconds after the time in the id. The events follow, and each is a list of members. Each member
// begins with a number, which is twice the member's length. One is added to the number if the member is a UUID in binary form.
const (
	eventsFormat = 1
	// maxEvents limits a row's size in bytes, unless the row contains a single event. PostgreSQL would store a larger value in another table, which
	// costs another row.
	maxEvents = 1900
	// usualText is a text length that usually compresses to less than maxEvents.
	usualText  = 12 << 10
	maxText    = 64 << 20 // longer than any row's text
	leastEvent = 10       // in bytes: ten members, each with at least one byte for its length
)

var errEvents = errors.New("cannot read the events of a row")

// PackEvents packs events into rows.
func PackEvents(events []ipam.Event) (packed []EventRow) {
	var p packer
	byProject := func(a, b ipam.Event) int {
		return cmp.Or(CompareIDs(a.ProjectID, b.ProjectID), CompareIDs(a.ID, b.ID))
	}
	if !slices.IsSortedFunc(events, byProject) { // they belong to several projects
		events = slices.SortedFunc(slices.Values(events), byProject)
	}
	for len(events) > 0 {
		n := 1
		for n < len(events) && follows(&events[n], &events[n-1]) {
			n++
		}
		for run := events[:n]; len(run) > 0; {
			r := p.packRow(run)
			packed, run = append(packed, r), run[r.Count:]
		}
		events = events[n:]
	}
	return packed
}

func follows(e, last *ipam.Event) bool {
	return e.ProjectID == last.ProjectID && e.ID == last.ID.Next() && e.At.Equal(last.At)
}

// packer builds rows and reuses its buffers.
type packer struct{ text, packed []byte }

// packRow returns a row with as many of the first events as fit.
func (p *packer) packRow(events []ipam.Event) EventRow {
	first := &events[0]
	for limit := usualText; ; limit /= 2 {
		text := binary.AppendVarint(slices.Grow(p.text[:0], min(300*len(events), limit+limit/4)), first.At.Sub(first.ID.Time().Truncate(time.Millisecond)).Microseconds())
		n := 0
		for n < len(events) && (n == 0 || len(text) < limit) {
			text = appendEvent(text, &events[n])
			n++
		}
		packed := slices.Grow(p.packed[:0], 1+s2.MaxEncodedLen(len(text)))
		packed = append(packed, eventsFormat)
		packed = packed[:1+len(s2.Encode(packed[1:cap(packed)], text))]
		p.text, p.packed = text, packed
		if len(packed) <= maxEvents || n == 1 {
			return EventRow{ProjectID: first.ProjectID, ID: first.ID, Count: int16(n), Events: slices.Clone(packed)}
		}
	}
}

// appendEvent appends an event. The members that differ between a transaction's events come first. So the equal members are adjacent, and the
// compressor finds them with one match.
func appendEvent(text []byte, e *ipam.Event) []byte {
	text = appendMember(text, e.RequestID)
	text = appendMember(text, e.Name)
	text = appendMember(text, e.Before)
	text = appendMember(text, e.After)
	for _, member := range [...]string{e.Subject, e.Method, e.Remote, e.Operation, e.Kind, e.Outcome} {
		text = appendMember(text, member)
	}
	return text
}

func appendMember[T string | ~[]byte](text []byte, member T) []byte {
	if len(member) == 36 {
		if id, err := ipam.ParseID(string(member)); err == nil {
			return append(append(text, 2*byte(len(id))+1), id[:]...)
		}
	}
	return append(binary.AppendUvarint(text, 2*uint64(len(member))), member...)
}

// Unpack returns the row's events.
func (r EventRow) Unpack() ([]ipam.Event, error) {
	if len(r.Events) == 0 || r.Events[0] != eventsFormat {
		return nil, fmt.Errorf("%w: unknown format", errEvents)
	}
	if n, err := s2.DecodedLen(r.Events[1:]); err != nil || n > maxText {
		return nil, errEvents
	}
	text, err := s2.Decode(nil, r.Events[1:])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errEvents, err)
	}
	late, n := binary.Varint(text)
	if n <= 0 || r.Count < 1 || int(r.Count) > len(text)/leastEvent {
		return nil, errEvents
	}
	e := ipam.Event{ProjectID: r.ProjectID, ID: r.ID, At: r.ID.Time().Truncate(time.Millisecond).Add(time.Duration(late) * time.Microsecond)}
	from := eventText{text: text[n:]}
	events := make([]ipam.Event, r.Count)
	for i := range events {
		from.event(&e)
		events[i] = e
		e.ID = e.ID.Next()
	}
	if from.bad || len(from.text) > 0 {
		return nil, errEvents
	}
	return events, nil
}

// eventText is a row's unread text.
type eventText struct {
	text []byte
	bad  bool
}

// event reads the next event into e, which contains the previous event.
func (t *eventText) event(e *ipam.Event) {
	t.string(&e.RequestID)
	t.string(&e.Name)
	e.Before, e.After = t.member(), t.member()
	for _, to := range [...]*string{&e.Subject, &e.Method, &e.Remote, &e.Operation, &e.Kind, &e.Outcome} {
		t.string(to)
	}
}

func (t *eventText) string(to *string) {
	if member := t.member(); string(member) != *to { // usually it equals the previous event's member
		*to = string(member)
	}
}

// member returns the next member, or nil if the member is empty.
func (t *eventText) member() []byte {
	length, n := binary.Uvarint(t.text)
	if n <= 0 || length > 2*maxText || int(length/2) > len(t.text)-n || length%2 == 1 && int(length/2) != len(ipam.ID{}) {
		t.bad = true
		return nil
	}
	end := n + int(length/2)
	member := t.text[n:end:end]
	t.text = t.text[end:]
	switch {
	case len(member) == 0:
		return nil
	case length%2 == 1:
		return []byte(ipam.ID(member).String())
	}
	return member
}
