package transfer

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"slices"
	"unique"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/source"
)

// These are a row's outcomes. Some are planned, and the others are done.
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

// domain is a space in a project. It takes less memory in an item than the two names.
type domain struct{ names unique.Handle[domainNames] }

type domainNames struct{ project, space string }

func domainOf(project, space string) domain {
	return domain{unique.Make(domainNames{project, space})}
}

func (d domain) project() string { return d.names.Value().project }
func (d domain) space() string   { return d.names.Value().space }

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

	row          int32 // number of its row in the source, from 1; 0 for items from the server or the mapping
	depth        int16 // number of pools around it, which is less than the bits in an address
	onServer     bool  // the object is on the server
	madeByMirror bool  // a mirror has made a pool with this block; objects in it may be missing in the source
	parent       *item // the pool that contains it
	counterpart  *item // the equal or conflicting item on the other side: on the server for a row, in the source for a server's item
}

// ending is an item's outcome and the reason. Items share endings, so no function may change one. The method end gives an item another ending.
type ending struct{ outcome, why string }

// pending is the ending before an item has an outcome. exists is the ending of an item that is equal to the object on the server.
var pending, exists = &ending{}, &ending{outcome: outcomeSame}

// newItem returns an item without an outcome.
func newItem(d domain, kind, name string, block netip.Prefix, details *itemDetails) *item {
	return &item{domain: d, kind: kind, name: name, block: block, itemDetails: details, ending: pending}
}

// itemOnServer returns the item for an object on the server.
func itemOnServer(d domain, kind, name string, block netip.Prefix, details *itemDetails) *item {
	i := newItem(d, kind, name, block, details)
	i.onServer = true
	return i
}

// itemDetails has the fields that few items use.
type itemDetails struct {
	span *source.Span // of a range
	// by makes a row's labels, annotations and description when they are needed, because a map for each row would take too much memory. It is nil for
	// items from Carve's own exports, the mapping and the server. Those items have their values in the fields below.
	by          *itemMaker
	labels      map[string]string
	annotations map[string]string
	description string
	phase       client.IPAllocationPhase                   // only for a held block
	spec        json.RawMessage                            // of Carve's own exports
	serves      []string                                   // classes that a new pool will list
	current     func() (map[string]json.RawMessage, error) // returns the spec on the server
	claims      *converge.Claims                           // for a claim on the server: has its labels, annotations, revision and spec
	ownParent   string                                     // the parent that the item names, in Carve's own export or on the server
	revision    string                                     // on the server
	holds       []client.Reservation
	parts       []span // of a reservation
}

// details returns an item's details for a change. Rows share one itemDetails, so details first gives the item its own.
func (i *item) details() *itemDetails {
	if i.by != nil && i.itemDetails == i.by.shared {
		i.itemDetails = &itemDetails{by: i.by}
	}
	return i.itemDetails
}

// claim returns the claim on the server for an item that has claims. It also works after the claim's release, because a report shows the claim.
func (i *item) claim() converge.Claim {
	c, _ := i.claims.AsRead(i.name) // the item was made from this claim
	return c
}

// changed returns an item's revision on the server.
func (i *item) changed() string {
	if i.claims != nil {
		return i.claim().Revision
	}
	return i.revision
}

// rest returns an item's spec on the server.
func (i *item) rest() (converge.Spec, error) {
	if i.claims != nil {
		return i.claim().Rest, nil
	}
	return i.current()
}

// conflict refuses an item because of an item on the other side.
func (i *item) conflict(with *item, why string) {
	i.counterpart, with.counterpart = with, i
	i.end(outcomeRefused, why)
}

func (i *item) end(outcome, why string) {
	if i.ending = exists; outcome != exists.outcome || why != "" {
		i.ending = &ending{outcome, why}
	}
}

func (i *item) isPool() bool  { return i.kind == rules.AsPool }
func (i *item) isRange() bool { return i.span != nil }

// from and to return an item's first and last address.
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
	return converge.Last(i.block)
}

// before reports whether an item comes before another item in the source. The mapping's items come before all rows.
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
	rank := func(i *item) int { return slices.Index([]string{rules.AsAuto, rules.AsPool}, i.kind) }
	slices.SortStableFunc(items, func(a, b *item) int {
		return cmp.Or(a.from().Compare(b.from()), b.to().Compare(a.to()), cmp.Compare(rank(b), rank(a)), cmp.Compare(there(a), there(b)))
	})
}
