package consistency

import (
	"fmt"
	"net/netip"
)

// kind of an operation.
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
	claim int // number of its name in the history
	name  string
	bits  int
	block netip.Prefix // claimBlock
}

// outcome of an operation.
type outcome int

const (
	unknown   outcome = iota // it took effect, or may do so later, or did not
	got                      // a claim: it holds the block in the answer
	exhausted                // claimLength: no room
	taken                    // claimBlock: held, at least in part
	released                 // release: done
	notFound                 // release: the claim does not exist
	gone                     // release: the claim does not exist now, because of this release or another
	void                     // no effect, and no information about the state
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
