package feed

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Change is a change to an object, with the object's current state.
type Change struct {
	Kind, Name string
	Object     ipam.Resource // nil: no object has this name
	At         time.Time
	Operation  string

	relabelled bool    // the object may have had other labels before
	event      ipam.ID // the latest event about the object
	row        ipam.ID // the row that contains this event, by the ID of its last event
	commit     string  // commit position of the latest known transaction that changed the object

	insideRow, afterRow changePosition // where a client resumes after this change: insideRow if more changes from the same row follow, otherwise afterRow

	once sync.Once
	text []byte
}

// changeSize is the estimated size of a change without its object, in bytes.
const changeSize = 1024

// Size estimates the change's size as JSON, in bytes.
func (c *Change) Size() int {
	if c.Object == nil {
		return changeSize
	}
	return changeSize + c.Object.Size()
}

// SizeOf returns the total size of changes.
func SizeOf(changes []*Change) int {
	bytes := 0
	for _, c := range changes {
		bytes += c.Size()
	}
	return bytes
}

// Text returns the encoded change. It calls encode once, and all followers share the result.
func (c *Change) Text(encode func(*Change) []byte) []byte {
	c.once.Do(func() { c.text = encode(c) })
	return c.text
}

// SameRow reports whether a change and the next change come from the same audit trail row. A follower cannot resume between two such changes.
func (c *Change) SameRow(next *Change) bool { return next.row == c.row }

// changePosition is a position with its cursor. It computes the cursor once.
type changePosition struct {
	position

	once   sync.Once
	cursor string
}

func (p *changePosition) cursorBy(s *sealer) string {
	p.once.Do(func() { p.cursor = s.seal(p.position) })
	return p.cursor
}

// withoutObject returns the change without its object. A follower that filters by labels gets this change if the object no longer matches the labels
// but may have matched before.
func (c *Change) withoutObject() *Change {
	g := &Change{Kind: c.Kind, Name: c.Name, At: c.At, Operation: c.Operation, event: c.event, row: c.row, commit: c.commit}
	g.insideRow.position, g.afterRow.position = c.insideRow.position, c.afterRow.position
	return g
}

// Filter selects the changes for a follower. A zero field selects all changes.
type Filter struct {
	Kinds  []string
	Name   string
	Labels *ipam.Selector
}

// changeFor returns the change that the follower should see, or nil if the filter does not match.
func (f Filter) changeFor(c *Change) *Change {
	switch {
	case f.Name != "" && f.Name != c.Name, len(f.Kinds) > 0 && !slices.Contains(f.Kinds, c.Kind):
		return nil
	case f.Labels == nil || c.Object == nil || f.Labels.Matches(c.Object.Meta().Labels):
		return c
	case c.relabelled:
		return c.withoutObject()
	default:
		return nil
	}
}

func later(a, b ipam.ID) bool { return bytes.Compare(a[:], b[:]) > 0 }

// recorded has the fields that the feed needs from the record in an event.
type recorded struct {
	Labels        json.RawMessage `json:"labels"`
	AllocationRef *ipam.Ref       `json:"allocationRef"`
}

func readRecord(text []byte) (r recorded) {
	_ = json.Unmarshal(text, &r) // a record that does not parse counts as empty
	return r
}

// relabels reports whether an object may have had other labels before an event. This is true if the event changed the labels. It is also true if the
// event deleted the object, because another object may now have the same name.
func relabels(e *ipam.Event) bool {
	if len(e.Before) == 0 {
		return false
	}
	return len(e.After) == 0 || readRecord(e.Before).Labels != nil || readRecord(e.After).Labels != nil
}
