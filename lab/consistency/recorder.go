package consistency

import (
	"fmt"
	"net/netip"
	"sync"

	"github.com/anishathalye/porcupine"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Recorder records the clients' requests and the responses. It is safe for concurrent use. Its clock counts calls and responses in the order in which
// clients record them. So a client must record a call before it sends the request, and must record the response after it receives it.
type Recorder struct {
	pools map[string]*Pool

	mu      sync.Mutex
	now     int64
	history []*Call
	numbers map[string]int // number of each claim name
	names   []string
}

// NewRecorder makes a recorder for pools that are empty.
func NewRecorder(pools ...Pool) *Recorder {
	r := &Recorder{pools: map[string]*Pool{}, numbers: map[string]int{}}
	for _, p := range pools {
		p.check()
		r.pools[p.Name] = &p
	}
	return r
}

// Call is an operation in progress. The client ends it once, with one of its methods. A call that never ends counts as unknown.
type Call struct {
	r                *Recorder
	client           int
	op               operation
	called, answered int64 // 0 means no response
	answer           answer
}

// Claim records that a client requests a block of a length. Claim names are unique in a history, even after a release.
func (r *Recorder) Claim(client int, pool, name string, bits int) *Call {
	return r.call(client, pool, name, operation{kind: claimLength, bits: bits})
}

// ClaimBlock records that a client requests an exact CIDR.
func (r *Recorder) ClaimBlock(client int, pool, name string, block netip.Prefix) *Call {
	return r.call(client, pool, name, operation{kind: claimBlock, block: block, bits: block.Bits()})
}

// Release records that a client releases a claim.
func (r *Recorder) Release(client int, pool, name string) *Call {
	return r.call(client, pool, name, operation{kind: release})
}

func (r *Recorder) call(client int, pool, name string, op operation) *Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	op.pool, op.name = r.pools[pool], name
	if op.pool == nil {
		panic(fmt.Sprintf("consistency: pool %q is not part of this history", pool))
	}
	if op.kind != release && op.bits > op.pool.Unit {
		panic(fmt.Sprintf("consistency: a /%d is smaller than the units of pool %q", op.bits, pool))
	}
	number, known := r.numbers[name]
	if !known {
		number = len(r.names)
		r.numbers[name], r.names = number, append(r.names, name)
	}
	op.claim = number
	r.now++
	c := &Call{r: r, client: client, op: op, called: r.now}
	r.history = append(r.history, c)
	return c
}

// Got records that the claim got a block.
func (c *Call) Got(block netip.Prefix) { c.end(answer{got, block}) }

// Exhausted records that a claim by length found no room.
func (c *Call) Exhausted() { c.end(answer{outcome: exhausted}) }

// Taken records that a claim for an exact CIDR failed because at least a part of the CIDR is held.
func (c *Call) Taken() { c.end(answer{outcome: taken}) }

// Released records that a release released the claim.
func (c *Call) Released() { c.end(answer{outcome: released}) }

// NotFound records that the claim of a release does not exist.
func (c *Call) NotFound() { c.end(answer{outcome: notFound}) }

// Gone records that the client repeated a release after an unknown outcome until the claim did not exist. It is unknown which attempt released the
// claim. Another client may also have released it.
func (c *Call) Gone() { c.end(answer{outcome: gone}) }

// Void records that the operation had no effect and shows nothing about the pool. The checker ignores the operation.
func (c *Call) Void() { c.end(answer{outcome: void}) }

// Unknown records that the operation may have taken effect, or may do so later.
func (c *Call) Unknown() { c.end(answer{outcome: unknown}) }

// Answer records the result of a use case: the claim's block, or an error. If the error's code leaves the outcome open, Answer records an unknown
// outcome.
func (c *Call) Answer(block netip.Prefix, err error) {
	claim := c.op.kind != release
	switch code := ipam.CodeOf(err); {
	case err == nil && claim:
		c.Got(block)
	case err == nil:
		c.Released()
	case code == ipam.CodePoolExhausted:
		c.Exhausted()
	case code == ipam.CodeBlockTaken, code == ipam.CodeAllocationRetained:
		c.Taken()
	case code == ipam.CodeNotFound && !claim:
		c.NotFound()
	case code == ipam.CodeContention:
		c.Void()
	default:
		c.Unknown()
	}
}

func (c *Call) end(a answer) {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	if c.answered != 0 {
		panic("consistency: answered twice: " + c.op.String())
	}
	c.r.now++
	c.answer, c.answered = a, c.r.now
}

// Tally returns the number of operations by outcome: "unknown", "got", "exhausted", "taken", "released", "not found", "gone", "no effect". If an
// outcome never occurs, the history does not test it.
func (r *Recorder) Tally() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	tally := map[string]int{}
	for _, c := range r.history {
		tally[c.answer.outcome.String()]++
	}
	return tally
}

// operations returns the history for the checker. An operation with an unknown outcome ends after all other operations.
func (r *Recorder) operations() ([]porcupine.Operation, []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]porcupine.Operation, 0, len(r.history))
	for _, c := range r.history {
		if c.answer.outcome == void {
			continue
		}
		end := c.answered
		if c.answer.outcome == unknown {
			end = r.now + 1
		}
		out = append(out, porcupine.Operation{ClientId: c.client, Input: c.op, Call: c.called, Output: c.answer, Return: end})
	}
	return out, append([]string(nil), r.names...)
}
