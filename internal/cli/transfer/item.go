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

// What has become of a row, or would.
const (
	outcomeCreate    = "to create"
	outcomeCreated   = "created"
	outcomeSame      = "same"
	outcomeDiffers   = "differs"
	outcomeSkipped   = "skipped"
	outcomeRefused   = "refused"
	outcomeReference = "no block"    // a row about something else
	outcomeLeft      = "not reached" // the import ended before

	// Of a shadow alone.
	outcomeChange    = "to change"
	outcomeChanged   = "changed"
	outcomeRelease   = "to release"
	outcomeReleased  = "released"
	outcomeHeldBack  = "held back"  // it would be released, but for a safety
	outcomeTaken     = "taken"      // somebody else holds the block
	outcomeOnlyHere  = "only here"  // it is not the mirror's, or Carve leads
	outcomeOnlyThere = "only there" // Carve leads
	outcomeEnded     = "ended here" // Carve leads, and has released it since
)

// domain is a routing domain: a space of a project.
type domain struct{ project, space string }

// item is one thing that is to be in Carve, or that is there. There may be many, so what few have is in more.
type item struct {
	domain
	*more
	kind  string // pool, claim, reservation, claims, auto
	name  string
	block netip.Prefix
	span  *source.Span // of a range

	// by makes the labels, annotations and description of a row of the source when they are asked for: a map for each of many rows costs
	// more memory than all else. Things of Carve's own, of the mapping and of the server have labels, annotations and a description.
	by     *making
	record *source.Record // the row that by reads

	row    int   // of the source, counted from 1; 0: it is on the server, or of the mapping
	there  bool  // it is on the server
	stands bool  // a mirror has made a pool of this block, which may have more in it than comes from the source
	parent *item // the pool around it
	depth  int
	is     *item // the counterpart: on the server for a row, in the mirror for an object of the server

	outcome string
	why     string
}

// more is what few items have.
type more struct {
	labels      map[string]string
	annotations map[string]string
	description string
	phase       client.IPAllocationPhase                   // of a block that somebody holds
	spec        json.RawMessage                            // of Carve's own
	serves      []string                                   // classes that a pool is to list if it is made
	current     func() (map[string]json.RawMessage, error) // the spec of what is on the server
	ownParent   string                                     // the pool that it names, of Carve's own or on the server
	revision    string                                     // on the server
	holds       []client.Reservation
	parts       []span // of a reservation
}

// none stands for an empty more. Items share it, so nothing writes to it; rich gives an item its own.
var none = &more{}

// rich gives an item a more of its own, to write to.
func (i *item) rich() *more {
	if i.more == none {
		i.more = &more{}
	}
	return i.more
}

// end is the outcome of an item that is settled.
func (i *item) end(outcome, why string) { i.outcome, i.why = outcome, why }

func (i *item) isPool() bool  { return i.kind == rules.AsPool }
func (i *item) isRange() bool { return i.span != nil }

// from and to are the first and the last address.
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

// before reports whether an item comes before another one in the source. What is of the mapping comes before all rows.
func (i *item) before(other *item) bool {
	return other.row > 0 && i.row < other.row
}

// where is the block for people.
func (i *item) where() string {
	return (&source.Record{Block: i.block, Span: i.span}).Where()
}

// target is what an item is called in Carve.
func (i *item) target() string {
	if i.kind == rules.AsReservation && i.parent != nil {
		return "pool/" + i.parent.name
	}
	return i.kind + "/" + i.name
}

// byPlace orders items so that what is around comes before what is within: pools before claims of the same block, and what is
// on the server before what is to come.
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
