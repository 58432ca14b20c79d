package chaos

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Kind of an operation.
type Kind int

// The kinds.
const (
	Claim      Kind = iota // POST by a given name: any block of a length
	ClaimBlock             // POST by a given name: this very block
	Put                    // PUT, create or return
	Twice                  // POST by one given name to two servers at once, without keys: one of them makes it
	Generated              // POST by a generated name
	Batch                  // several claims, all or none
	Child                  // a child pool
	ChildClaim             // a claim from a child pool
	Release                // DELETE of a claim or child pool that was made
	Again                  // a request that was answered, once more with its key
	Get                    // a read
	kinds
)

// String names the kind.
func (k Kind) String() string {
	return [...]string{"claim", "claim of a block", "put", "two claims at once", "generated", "batch", "child pool", "claim from a child", "release", "repeat", "read"}[k]
}

// Op is one operation of one client, as planned.
type Op struct {
	Client, Number int
	Kind           Kind
	Pool           string
	Names          []string // of what it makes: one, but for batches; prefixes for generated names
	Bits           int
	Block          netip.Prefix
	Keyed          bool          // with an Idempotency-Key
	Server         int           // that is asked first
	Hop            bool          // repeats go to the next server
	Patience       time.Duration // of the client, at the first try; 0: the server's deadline is the shorter one
	Leave          bool          // an unknown outcome is found out at the end of the run, and not before
	Target         *Op           // Release, Again, Get, ChildClaim: what was made by this one
	Index          int           // which of the target's claims
}

// ID names the operation in reports and keys.
func (o *Op) ID() string { return fmt.Sprintf("c%d-%d", o.Client, o.Number) }

// Count is how many operations it counts as.
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

// target is something that a planned operation makes and that is not released yet in the plan.
type target struct {
	op    *Op
	index int
}

// maxBatch is how many claims a batch has at most.
const maxBatch = 4

// draw plans one operation. made is what operations before it make.
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
		op.Kind = Claim // what a child pool gives out again when it has gone is not looked at
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
		op.Keyed = false // its name is its key
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

// lead is how many operations earlier another client must have planned what this one is about, so that it mostly is there by then.
const lead = 3

// aim chooses what the operation is about: for a release something that no other operation releases. Two releases of one
// claim at once, both of which lose their answers, are both told that the claim is gone, which is true and has no order.
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
		if p.tide(op.Number) == ebb { // in the order in which it came, so that neighbours go at once
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
