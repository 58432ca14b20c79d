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

// These are the outcomes of a row. Some are planned and the others are done.
const (
	outcomeCreate    = "to create"
	outcomeCreated   = "created"
	outcomeSame      = "same"
	outcomeDiffers   = "differs"
	outcomeSkipped   = "skipped"
	outcomeRefused   = "refused"
	outcomeReference = "no block"    // a row that is not about a block
	outcomeLeft      = "not reached" // the import ended before this row

	// Only a mirror has the following outcomes. "Carve leads" means that Carve decides about the pool, and the mirror only compares.
	outcomeChange    = "to change"
	outcomeChanged   = "changed"
	outcomeRelease   = "to release"
	outcomeReleased  = "released"
	outcomeHeldBack  = "held back"  // a safety check prevents the release
	outcomeTaken     = "taken"      // another project or another user holds the block
	outcomeOnlyHere  = "only here"  // the mirror did not create it, or Carve leads
	outcomeOnlyThere = "only there" // only in the other system; Carve leads
	outcomeEnded     = "ended here" // Carve leads, and has released it
)

// domain is a routing domain: a space of a project. It takes less room in an item than the two names.
type domain struct{ names unique.Handle[domainNames] }

type domainNames struct{ project, space string }

func domainOf(project, space string) domain {
	return domain{unique.Make(domainNames{project, space})}
}

func (d domain) project() string { return d.names.Value().project }
func (d domain) space() string   { return d.names.Value().space }

// move sets the space of an item.
func (i *item) move(space string) { i.domain = domainOf(i.project(), space) }

// item is one object that the source wants or that is on the server. An import can have very many items. Items therefore share equal values, and the
// fields that few items use are in itemDetails.
type item struct {
	domain
	*itemDetails
	*ending
	kind  string // pool, claim, reservation, claims, auto
	name  string
	block netip.Prefix

	row          int32 // row of the source, starting at 1; 0 if the item comes from the server or from the mapping
	depth        int16 // number of pools that contain it, which is less than the number of bits in an address
	onServer     bool  // the object is on the server
	counterpart  bool  // a mirror has made a pool of this block, which may contain objects that are not in the source
	parent       *item // the pool that contains it
	madeByMirror *item // the equal or conflicting item on the other side: on the server for a row, and in the source for an item of the server
}

// ending is the outcome of an item and the reason. Several items share one ending, so no function may change it. The method end gives an item another
// ending.
type ending struct{ outcome, why string }

// pending is the ending of an item that has no outcome yet. exists is the ending of an item that is equal to the object on the server.
var pending, exists = &ending{}, &ending{outcome: outcomeSame}

// itemDetails has the fields that few items use.
type itemDetails struct {
	span *source.Span // of a range
	// by makes the labels, the annotations and the description of a row when they are needed, because a map for each row would take too much memory.
	// It is nil for items of Carve's own exports, of the mapping and of the server. Those items have their values in the fields below.
	by          *itemMaker
	labels      map[string]string
	annotations map[string]string
	description string
	phase       client.IPAllocationPhase                   // of a held block
	spec        json.RawMessage                            // of Carve's own exports
	serves      []string                                   // classes that a new pool will list
	current     func() (map[string]json.RawMessage, error) // returns the spec on the server
	claims      *snapshot.Claims                           // for an item of the server: the claim with the item's name has its labels, annotations, revision and spec
	ownParent   string                                     // the parent that the item names, in Carve's own export or on the server
	revision    string                                     // on the server
	holds       []client.Reservation
	parts       []span // of a reservation
}

// details returns the details of an item for a change. All rows of a rule share one itemDetails, so details first gives the item its own.
func (i *item) details() *itemDetails {
	if i.by != nil && i.itemDetails == i.by.shared {
		i.itemDetails = &itemDetails{by: i.by}
	}
	return i.itemDetails
}

// claim returns the claim on the server for an item that has claims. It also works after the claim's release, because a report shows the claim.
func (i *item) claim() snapshot.Claim {
	c, _ := i.claims.AsRead(i.name) // the item was made from this claim
	return c
}

// changed returns the revision of an item on the server.
func (i *item) changed() string {
	if i.claims != nil {
		return i.claim().Revision
	}
	return i.revision
}

// rest returns the spec of an item on the server.
func (i *item) rest() (snapshot.Spec, error) {
	if i.claims != nil {
		return i.claim().Rest, nil
	}
	return i.current()
}

// end sets the outcome of an item.
func (i *item) end(outcome, why string) {
	if i.ending = exists; outcome != exists.outcome || why != "" {
		i.ending = &ending{outcome, why}
	}
}

func (i *item) isPool() bool  { return i.kind == rules.AsPool }
func (i *item) isRange() bool { return i.span != nil }

// from and to return the first and the last address of an item.
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

// before reports whether an item comes before another item in the source. An item of the mapping comes before all rows.
func (i *item) before(other *item) bool {
	return other.row > 0 && i.row < other.row
}

// where returns the block or the range as text.
func (i *item) where() string {
	return (&source.Record{Block: i.block, Span: i.span}).Where()
}

// target returns the kind and the name that an item has in Carve.
func (i *item) target() string {
	if i.kind == rules.AsReservation && i.parent != nil {
		return "pool/" + i.parent.name
	}
	return i.kind + "/" + i.name
}

// byPlace sorts items so that an outer item comes before the items inside it. If two items have the same block, a pool comes before a claim, and an
// item on the server comes before a new item.
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
