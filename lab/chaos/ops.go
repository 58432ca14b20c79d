package chaos

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Kind is the kind of an operation.
type Kind int

// The kinds of operations.
const (
	Claim      Kind = iota // POST by a given name: any block of a length
	ClaimBlock             // POST by a given name: an exact CIDR
	Put                    // PUT: create or return
	Twice                  // POST by one given name to two servers at the same time, without keys: one makes it
	Generated              // POST by a generated name
	Batch                  // several claims, all or none
	Child                  // a child pool
	ChildClaim             // a claim from a child pool
	Release                // DELETE of a claim or child pool
	Again                  // an answered request, repeated with its key
	Get                    // a read
	kinds
)

// String returns the kind's name.
func (k Kind) String() string {
	return [...]string{"claim", "claim of a block", "put", "two claims at once", "generated", "batch", "child pool", "claim from a child", "release", "repeat", "read"}[k]
}

// Op is one planned operation of one client.
type Op struct {
	Client, Number int
	Kind           Kind
	Pool           string
	Names          []string // names of the new objects: one, except for batches; prefixes for generated names
	Bits           int
	Block          netip.Prefix
	Keyed          bool          // with an Idempotency-Key
	Server         int           // index of the server for the first attempt
	Hop            bool          // repeats go to the next server
	Patience       time.Duration // client timeout of the first attempt; 0: longer than the server's deadline
	Leave          bool          // the end of the run resolves an unknown outcome
	Target         *Op           // Release, Again, Get, ChildClaim: the operation that made the object
	Index          int           // index among the target's claims
}

// ID returns the operation's name in reports and keys.
func (o *Op) ID() string { return fmt.Sprintf("c%d-%d", o.Client, o.Number) }

// Count returns the operation's weight in the progress of the run: its number of names, and at least 1.
func (o *Op) Count() int { return max(1, len(o.Names)) }

func (o *Op) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", o.ID(), o.Kind)
	if o.Target != nil {
		fmt.Fprintf(&b, " of %s/%d", o.Target.ID(), o.Index)
	}
	if o.Pool != "" {
		fmt.Fprintf(&b, " %s /%d x%d", o.Pool, o.Bits, len(o.Names))
	}
	if o.Block.IsValid() {
		fmt.Fprintf(&b, " %v", o.Block)
	}
	for what, so := range map[string]bool{" keyed": o.Keyed, " hops": o.Hop, " left": o.Leave, " impatient": o.Patience > 0} {
		if so {
			b.WriteString(what)
		}
	}
	return b.String()
}

// target is an object that a planned operation makes and that the plan has not released yet.
type target struct {
	op    *Op
	index int
}

// maxBatch limits a batch's claims.
const maxBatch = 4

// draw plans one operation. made lists the objects that earlier operations make.
func (p *Plan) draw(r *rand.Rand, client, number int, made *[]target) Op {
	op := Op{Client: client, Number: number, Server: client % len(p.Regions)}
	op.Kind = p.kind(r, p.tide(number))
	pool := p.pick(r)
	op.Keyed, op.Hop, op.Leave = r.IntN(2) == 0, r.IntN(3) == 0, r.IntN(8) == 0
	if r.IntN(20) == 0 {
		op.Patience = time.Duration(1+r.IntN(30)) * time.Millisecond
	}
	if r.IntN(6) == 0 {
		op.Server = r.IntN(len(p.Regions))
	}
	op.Bits = max(pool.Block.Bits(), pool.Unit-r.IntN(3))
	count := 1
	if op.Kind == Child && !pool.judged() {
		op.Kind = Claim // no check covers the blocks that a deleted child pool gives back
	}
	switch op.Kind {
	case Release, Again, Get, ChildClaim:
		if !p.aim(r, &op, made) {
			op.Kind = Claim
		}
	case Child:
		op.Bits, op.Keyed = pool.Unit-1, true
	case Batch:
		count = 2 + r.IntN(maxBatch-1)
		op.Bits = pool.Unit - r.IntN(2)
	case ClaimBlock:
		op.Block = pool.block(r, op.Bits)
	case Put:
		op.Keyed = false // the name works as the key
	case Twice:
		op.Keyed, op.Leave = false, false
	default:
	}
	switch op.Kind {
	case Release, Again, Get:
		return op
	case ChildClaim:
		op.Pool, op.Bits = op.Target.Names[0], op.Target.Bits+r.IntN(2)
	default:
		op.Pool = pool.Name
	}
	for i := range count {
		op.Names = append(op.Names, fmt.Sprintf("c%d-%d-%c", client, number, 'a'+i))
	}
	kept := op
	for i := range op.Names {
		if op.Kind != ChildClaim {
			*made = append(*made, target{&kept, i})
		}
	}
	return op
}

func (p *Plan) kind(r *rand.Rand, now tide) Kind {
	if now == ebb {
		return Release
	}
	weight := func(k Kind) int {
		if now == flood && k == Release {
			return 0
		}
		return p.Weights[k]
	}
	all := 0
	for k := range kinds {
		all += weight(k)
	}
	at := r.IntN(all)
	for k := range kinds {
		if at -= weight(k); at < 0 {
			return k
		}
	}
	return Claim
}

// lead is the number of rounds by which another client's operation must precede an operation that uses its object. The object mostly exists by then.
const lead = 3

// aim chooses the operation's target. A release gets an object that no other operation releases. If two simultaneous releases of one claim both lost
// their responses, both would learn that the claim is gone, and no order explains that.
func (p *Plan) aim(r *rand.Rand, op *Op, made *[]target) bool {
	fits := func(t target) bool {
		switch op.Kind {
		case ChildClaim:
			return t.op.Kind == Child
		case Again:
			return t.op.Keyed
		default:
			return true
		}
	}
	list := *made
	for range 8 {
		if len(list) == 0 {
			return false
		}
		i := r.IntN(len(list))
		if p.tide(op.Number) == ebb { // oldest first, so that neighbouring blocks are released together
			i = 0
		}
		t := list[i]
		if !fits(t) || t.op.Client != op.Client && t.op.Number > op.Number-lead {
			continue
		}
		op.Target, op.Index = t.op, t.index
		if op.Kind == Release {
			*made = slices.Delete(list, i, i+1)
		}
		return true
	}
	return false
}
