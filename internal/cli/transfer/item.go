package transfer

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"slices"
	"unique"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/snapshot"
	"github.com/carve-ipam/carve/internal/cli/source"
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

// domain is a routing domain: a space of a project. It takes less room in an item than the two names.
type domain struct{ names unique.Handle[domainNames] }

type domainNames struct{ project, space string }

func domainOf(project, space string) domain {
	return domain{unique.Make(domainNames{project, space})}
}

func (d domain) project() string { return d.names.Value().project }
func (d domain) space() string   { return d.names.Value().space }

// move sets an item's space.
func (i *item) move(space string) { i.domain = domainOf(i.project(), space) }

// item is one thing, wanted or on the server. An import can have many, so items share equal values, and fields that few items use are in more.
type item struct {
	domain
	*itemDetails
	*ending
	kind  string // pool, claim, reservation, claims, auto
	name  string
	block netip.Prefix

	row          int32 // row of the source, from 1; 0: a server item or of the mapping
	depth        int16 // pools around it; a pool of a deeper one would need more bits than an address has
	onServer     bool  // on the server
	counterpart  bool  // a mirror made the pool of this block, which may contain more than the source
	parent       *item // the pool around it
	madeByMirror *item // the counterpart: on the server for a row, in the mirror for an object of the server
}

// ending is the outcome of an item and its reason. Items share it, so no function changes it; end gives an item another one.
type ending struct{ outcome, why string }

// pending is the ending of an item without an outcome, and exists that of an item whose counterpart is equal.
var pending, exists = &ending{}, &ending{outcome: outcomeSame}

// itemDetails holds the fields that few items use.
type itemDetails struct {
	span *source.Span // of a range
	// by makes the labels, annotations and description of a source row on demand, because a map for each row would take too much memory.
	// Items of Carve's own exports, of the mapping and of the server have their labels, annotations and description here.
	by          *itemMaker
	labels      map[string]string
	annotations map[string]string
	description string
	phase       client.IPAllocationPhase                   // of a held block
	spec        json.RawMessage                            // of Carve's own exports
	serves      []string                                   // classes that a new pool will list
	current     func() (map[string]json.RawMessage, error) // the spec on the server
	claims      *snapshot.Claims                           // of the server; they have the labels, annotations, revision and spec of the item with its name
	ownParent   string                                     // the pool that the item names, in Carve's own exports or on the server
	revision    string                                     // on the server
	holds       []client.Reservation
	parts       []span // of a reservation
}

// details returns an item's more for writing. A row of a rule gets its own first, because the rows of a rule share one.
func (i *item) details() *itemDetails {
	if i.by != nil && i.itemDetails == i.by.shared {
		i.itemDetails = &itemDetails{by: i.by}
	}
	return i.itemDetails
}

// claim returns the server's claim of an item that has claims, even after its release, because a report shows it.
func (i *item) claim() snapshot.Claim {
	c, _ := i.claims.AsRead(i.name) // the item was made of it
	return c
}

// changed returns the revision of a server item.
func (i *item) changed() string {
	if i.claims != nil {
		return i.claim().Revision
	}
	return i.revision
}

// rest returns the spec of a server item.
func (i *item) rest() (snapshot.Spec, error) {
	if i.claims != nil {
		return i.claim().Rest, nil
	}
	return i.current()
}

// end sets an item's outcome.
func (i *item) end(outcome, why string) {
	if i.ending = exists; outcome != exists.outcome || why != "" {
		i.ending = &ending{outcome, why}
	}
}

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
	return snapshot.Last(i.block)
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
		if i.onServer {
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
