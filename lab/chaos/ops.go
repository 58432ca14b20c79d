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
	Claim      Kind = iota // POST with a given name: any block of a length
	ClaimBlock             // POST with a given name: an exact CIDR
	Put                    // PUT, which creates the claim or returns it
	Twice                  // two POSTs with one name to two servers at the same time, without keys; exactly one may make the claim
	Generated              // POST that lets the service generate the name
	Batch                  // several claims in one request: all or none
	Child                  // a child pool
	ChildClaim             // a claim from a child pool
	Release                // DELETE of a claim or child pool
	Again                  // a repeat, with the same key, of a request that got a response
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
	Names          []string // names of the new objects: one, or several for a batch; a prefix for a generated name
	Bits           int
	Block          netip.Prefix
	Keyed          bool          // the request has an Idempotency-Key
	Server         int           // index of the server for the first attempt
	Hop            bool          // repeats go to the next server
	Patience       time.Duration // client timeout of the first attempt; 0 means longer than the server's deadline
	Leave          bool          // the client does not resolve an unknown outcome; the end of the run does
	Target         *Op           // for Release, Again, Get and ChildClaim: the operation that makes the object
	Index          int           // index of the object in Target.Names
}

// ID returns the operation's name in reports and Idempotency-Keys.
func (o *Op) ID() string { return fmt.Sprintf("c%d-%d", o.Client, o.Number) }

// Count returns the operation's weight in the progress of the run: the number of its names, and at least 1.
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

// target is an object that an earlier operation of the plan makes and no operation has released yet.
type target struct {
	op    *Op
	index int
}

// maxBatch limits the claims of a batch.
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
		op.Kind = Claim // no check covers the blocks that return to a cooling pool from a deleted child pool
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
		op.Keyed = false // a PUT needs no key, because its name makes repeats safe
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

// lead is the number of rounds between another client's operation and an operation that uses its object. After that many rounds, the object mostly
// exists.
const lead = 3

// aim chooses the operation's target. A release gets an object that no other operation releases. Otherwise two simultaneous releases of one claim
// could both lose their responses. Both clients would then learn that the claim is gone, and no order of the operations could explain that.
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
		if p.tide(op.Number) == ebb { // oldest first, so that clients release neighbouring blocks at the same time
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
