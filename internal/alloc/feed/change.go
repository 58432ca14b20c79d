package feed

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Change is a changed object with its current state.
type Change struct {
	Kind, Name string
	Object     ipam.Resource // nil: no object has this name
	At         time.Time
	Operation  string

	relabelled bool    // the object may have had other labels before
	event      ipam.ID // the latest event about the object
	row        ipam.ID // the last event in that event's row
	commit     string  // of the latest known transaction that changed the object

	behind, ends changePosition // positions after the change: within a row, the row's beginning; and after its row

	once sync.Once
	text []byte
}

// changeSize is the estimated size for a change without its object.
const changeSize = 1024

// Size estimates the change's size as JSON, in bytes.
func (c *Change) Size() int {
	if c.Object == nil {
		return changeSize
	}
	return changeSize + c.Object.Size()
}

// Text returns the change as encode writes it, computed once for all followers.
func (c *Change) Text(encode func(*Change) []byte) []byte {
	c.once.Do(func() { c.text = encode(c) })
	return c.text
}

// WithNext reports whether a change and the next one come from one row. A follower cannot resume between them.
func (c *Change) WithNext(next *Change) bool { return next.row == c.row }

// changePosition is a position and its cursor, computed once.
type changePosition struct {
	position

	once   sync.Once
	cursor string
}

func (p *changePosition) cursorBy(s *sealer) string {
	p.once.Do(func() { p.cursor = s.seal(p.position) })
	return p.cursor
}

// gone returns the change for a follower if the object no longer matches its labels: it may have matched before.
func (c *Change) gone() *Change {
	g := &Change{Kind: c.Kind, Name: c.Name, At: c.At, Operation: c.Operation, event: c.event, row: c.row, commit: c.commit}
	g.behind.position, g.ends.position = c.behind.position, c.ends.position
	return g
}

// Filter selects the changes for a follower. A zero field selects all.
type Filter struct {
	Kinds  []string
	Name   string
	Labels *ipam.Selector
}

// of returns a change as the follower should see it, or nil if the filter does not match.
func (f Filter) of(c *Change) *Change {
	switch {
	case f.Name != "" && f.Name != c.Name, len(f.Kinds) > 0 && !slices.Contains(f.Kinds, c.Kind):
		return nil
	case f.Labels == nil || c.Object == nil || f.Labels.Matches(c.Object.Meta().Labels):
		return c
	case c.relabelled:
		return c.gone()
	default:
		return nil
	}
}

func later(a, b ipam.ID) bool { return bytes.Compare(a[:], b[:]) > 0 }

// recorded has the event record fields that the feed needs.
type recorded struct {
	Labels        json.RawMessage `json:"labels"`
	AllocationRef *ipam.Ref       `json:"allocationRef"`
}

func readRecord(text []byte) (r recorded) {
	_ = json.Unmarshal(text, &r) // ignores a record that it cannot parse
	return r
}

// relabels reports whether an object may have had other labels before an event: the event changed them, or deleted the object, which may exist again
// under the same name.
func relabels(e *ipam.Event) bool {
	if len(e.Before) == 0 {
		return false
	}
	return len(e.After) == 0 || readRecord(e.Before).Labels != nil || readRecord(e.After).Labels != nil
}
