package transfer

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/source"
	"github.com/carve-ipam/carve/internal/cli/stock"
)

// Outcomes of a row, done or planned.
const (
	outcomeCreate    = "to create"
	outcomeCreated   = "created"
	outcomeSame      = "same"
	outcomeDiffers   = "differs"
	outcomeSkipped   = "skipped"
	outcomeRefused   = "refused"
	outcomeReference = "no block"    // a row about something else than a block
	outcomeLeft      = "not reached" // the import ended before this row

	// Outcomes only of a shadow.
	outcomeChange    = "to change"
	outcomeChanged   = "changed"
	outcomeRelease   = "to release"
	outcomeReleased  = "released"
	outcomeHeldBack  = "held back"  // a safety prevents the release
	outcomeTaken     = "taken"      // another project or user holds the block
	outcomeOnlyHere  = "only here"  // the mirror did not make it, or Carve leads
	outcomeOnlyThere = "only there" // Carve leads
	outcomeEnded     = "ended here" // Carve leads, and has released it since
)

// domain is a routing domain: a space of a project.
type domain struct{ project, space string }

// item is one thing, wanted or on the server. An import can have many, so fields that few items use are in more.
type item struct {
	domain
	*more
	kind  string // pool, claim, reservation, claims, auto
	name  string
	block netip.Prefix
	span  *source.Span // of a range

	// by makes the labels, annotations and description of a source row on demand: a map for each of many rows would take more memory than all else.
	// Items of Carve's own exports, of the mapping and of the server have their labels, annotations and description in more.
	by     *making
	record *source.Record // the row for by

	row    int   // row of the source, from 1; 0: a server item or of the mapping
	there  bool  // on the server
	stands bool  // a mirror made the pool of this block, which may contain more than the source
	parent *item // the pool around it
	depth  int
	is     *item // the counterpart: on the server for a row, in the mirror for an object of the server

	outcome string
	why     string
}

// more holds the fields that few items use.
type more struct {
	labels      map[string]string
	annotations map[string]string
	description string
	phase       client.IPAllocationPhase                   // of a held block
	spec        json.RawMessage                            // of Carve's own exports
	serves      []string                                   // classes that a new pool will list
	current     func() (map[string]json.RawMessage, error) // the spec on the server
	ownParent   string                                     // the pool that the item names, in Carve's own exports or on the server
	revision    string                                     // on the server
	holds       []client.Reservation
	parts       []span // of a reservation
}

// none is the empty more that items share. Nothing writes to it; rich gives an item its own.
var none = &more{}

// rich gives an item its own more for writing.
func (i *item) rich() *more {
	if i.more == none {
		i.more = &more{}
	}
	return i.more
}

// end sets an item's outcome.
func (i *item) end(outcome, why string) { i.outcome, i.why = outcome, why }

func (i *item) isPool() bool  { return i.kind == rules.AsPool }
func (i *item) isRange() bool { return i.span != nil }

// from and to return the first and the last address.
func (i *item) from() netip.Addr {
	if i.isRange() {
		return i.span.First
	}
	return i.block.Addr()
}

func (i *item) to() netip.Addr {
	if i.isRange() {
		return i.span.Last
	}
	return stock.Last(i.block)
}

// before reports whether an item precedes another in the source. Items of the mapping precede all rows.
func (i *item) before(other *item) bool {
	return other.row > 0 && i.row < other.row
}

// where returns the block for people.
func (i *item) where() string {
	return (&source.Record{Block: i.block, Span: i.span}).Where()
}

// target returns an item's name in Carve.
func (i *item) target() string {
	if i.kind == rules.AsReservation && i.parent != nil {
		return "pool/" + i.parent.name
	}
	return i.kind + "/" + i.name
}

// byPlace sorts items so that outer ones precede inner ones: pools before claims of the same block, and server items before new ones.
func byPlace(items []*item) {
	there := func(i *item) int {
		if i.there {
			return 0
		}
		return 1
	}
	rank := func(i *item) int {
		switch i.kind {
		case rules.AsPool:
			return 0
		case rules.AsAuto:
			return 1
		default:
			return 2
		}
	}
	slices.SortStableFunc(items, func(a, b *item) int {
		return cmp.Or(a.from().Compare(b.from()), b.to().Compare(a.to()), cmp.Compare(rank(a), rank(b)), cmp.Compare(there(a), there(b)))
	})
}
