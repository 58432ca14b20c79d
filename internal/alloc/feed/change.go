package feed

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Change is how an object is that has changed.
type Change struct {
	Kind, Name string
	Object     ipam.Resource // nil: there is none of this name
	At         time.Time
	Operation  string

	relabelled bool    // it may have had other labels before
	event      ipam.ID // the last that tells of it
	row        ipam.ID // the last event of the row that this one is in
	commit     string  // of the last transaction that is known to have changed it

	behind, ends place // from where to go on behind it: within a row, from the row's beginning; and behind its row

	once sync.Once
	text []byte
}

// changeSize is the round figure for a change without its object.
const changeSize = 1024

// Size is about how many bytes the change takes as JSON.
func (c *Change) Size() int {
	if c.Object == nil {
		return changeSize
	}
	return changeSize + c.Object.Size()
}

// Text is the change as encode writes it, once for all followers.
func (c *Change) Text(encode func(*Change) []byte) []byte {
	c.once.Do(func() { c.text = encode(c) })
	return c.text
}

// WithNext reports whether a change and the one behind it are of one row, from within which no follower can go on.
func (c *Change) WithNext(next *Change) bool { return next.row == c.row }

// place is a position, and its cursor, which is made once.
type place struct {
	position

	once   sync.Once
	cursor string
}

func (p *place) cursorBy(s *sealer) string {
	p.once.Do(func() { p.cursor = s.seal(p.position) })
	return p.cursor
}

// gone is the change to a follower by labels that the object does not have: it may have had them.
func (c *Change) gone() *Change {
	g := &Change{Kind: c.Kind, Name: c.Name, At: c.At, Operation: c.Operation, event: c.event, row: c.row, commit: c.commit}
	g.behind.position, g.ends.position = c.behind.position, c.ends.position
	return g
}

// Filter narrows what a follower is told. Zero fields do not narrow.
type Filter struct {
	Kinds  []string
	Name   string
	Labels *ipam.Selector
}

// of answers a change as a follower is told it; nil: it is not.
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

// recorded is what is to be known of the trail's records.
type recorded struct {
	Labels        json.RawMessage `json:"labels"`
	AllocationRef *ipam.Ref       `json:"allocationRef"`
}

func readRecord(text []byte) (r recorded) {
	_ = json.Unmarshal(text, &r) // what the trail cannot tell it does not
	return r
}

// relabels reports whether an object may have had other labels before an event: it was deleted, and there may be one of its name again, or they were
// changed.
func relabels(e *ipam.Event) bool {
	if len(e.Before) == 0 {
		return false
	}
	return len(e.After) == 0 || readRecord(e.Before).Labels != nil || readRecord(e.After).Labels != nil
}
