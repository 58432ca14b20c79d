package consistency

import (
	"fmt"
	"net/netip"
)

// kind is the kind of an operation.
type kind int

const (
	claimLength kind = iota // any block of a length
	claimBlock              // an exact CIDR
	release
)

// operation is a client's request.
type operation struct {
	kind  kind
	pool  *Pool
	claim int // number of the claim's name in the history
	name  string
	bits  int
	block netip.Prefix // only for claimBlock
}

// outcome is the outcome of an operation.
type outcome int

const (
	unknown   outcome = iota // the operation took effect, may do so later, or did not
	got                      // for a claim: it holds the block in the answer
	exhausted                // for claimLength: there was no room
	taken                    // for claimBlock: at least a part of the CIDR was held
	released                 // for a release: the claim was released
	notFound                 // for a release: the claim did not exist
	gone                     // for a release: the claim does not exist now, because of this release or another one
	void                     // the operation had no effect and shows nothing about the state
)

// answer is the response that a client got.
type answer struct {
	outcome outcome
	block   netip.Prefix
}

func (o operation) String() string {
	switch o.kind {
	case claimLength:
		return fmt.Sprintf("%s: claim %s /%d", o.pool.Name, o.name, o.bits)
	case claimBlock:
		return fmt.Sprintf("%s: claim %s %v", o.pool.Name, o.name, o.block)
	default:
		return fmt.Sprintf("%s: release %s", o.pool.Name, o.name)
	}
}

func (o outcome) String() string {
	return [...]string{"unknown", "got", "exhausted", "taken", "released", "not found", "gone", "no effect"}[o]
}

func (a answer) String() string {
	if a.outcome == got {
		return a.block.String()
	}
	return a.outcome.String()
}
