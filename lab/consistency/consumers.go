package consistency

import (
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// Consumers records the requests of consumers and the responses that they got. A consumer uses only one claim. So claims are independent, and each is
// judged separately. The clock works as in a Recorder. The specification has these rules:
//
//   - Enters attaches the consumer, and makes the claim if it does not exist. It may succeed only if the consumer has not ended.
//   - Enters may be refused only if the consumer has ended.
//   - Leaves detaches the consumer. If it was the last one, this releases the claim.
//   - Ends does the same, immediately or later. An ended consumer never enters again.
//   - Looks must report correctly whether the claim exists.
type Consumers struct {
	mu      sync.Mutex
	now     int64
	history []*Use
	numbers map[string]int // number of each consumer, counted separately in each claim
	used    map[string]int // number of consumers that a claim has had
}

// NewConsumers makes a recorder.
func NewConsumers() *Consumers {
	return &Consumers{numbers: map[string]int{}, used: map[string]int{}}
}

// Use is an operation in progress. The client ends it once, with one of its methods. A use that never ends may or may not have taken effect.
type Use struct {
	of               *Consumers
	client           int
	op               use
	answer           string
	called, answered int64
}

// use is a request of a consumer.
type use struct{ kind, claim, consumer string }

// The kinds of uses, and the possible responses to them.
const (
	enters = "enters"
	leaves = "leaves"
	ends   = "ends"
	looks  = "looks"

	done    = "done"
	later   = "done later"
	refused = "refused"
	there   = "there"
	absent  = "absent"
)

// Enters records a request to attach a consumer to a claim. The request makes the claim if it does not exist.
func (c *Consumers) Enters(client int, claim, consumer string) *Use {
	return c.call(client, use{enters, claim, consumer})
}

// Leaves records a request to detach a consumer.
func (c *Consumers) Leaves(client int, claim, consumer string) *Use {
	return c.call(client, use{leaves, claim, consumer})
}

// Ends records a request to end a consumer. An ended consumer may never use a claim again.
func (c *Consumers) Ends(client int, claim, consumer string) *Use {
	return c.call(client, use{ends, claim, consumer})
}

// Looks records a read of a claim.
func (c *Consumers) Looks(client int, claim string) *Use {
	return c.call(client, use{kind: looks, claim: claim})
}

func (c *Consumers) call(client int, op use) *Use {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.numbers[op.consumer]; !known && op.consumer != "" {
		c.numbers[op.consumer] = c.used[op.claim]
		c.used[op.claim]++
	}
	c.now++
	u := &Use{of: c, client: client, op: op, called: c.now}
	c.history = append(c.history, u)
	return u
}

// Done records that the operation succeeded.
func (u *Use) Done() { u.end(done) }

// Later records that the consumer has ended, but may stay attached for a while.
func (u *Use) Later() { u.end(later) }

// Refused records that Enters was refused because the consumer has ended.
func (u *Use) Refused() { u.end(refused) }

// Saw records whether a read found the claim.
func (u *Use) Saw(isThere bool) {
	if isThere {
		u.end(there)
	} else {
		u.end(absent)
	}
}

func (u *Use) end(answer string) {
	u.of.mu.Lock()
	defer u.of.mu.Unlock()
	u.of.now++
	u.answer, u.answered = answer, u.of.now
}

// Check judges the history so far, within a time limit.
func (c *Consumers) Check(limit time.Duration) Verdict {
	c.mu.Lock()
	operations := make([]porcupine.Operation, len(c.history))
	for i, u := range c.history {
		end := u.answered
		if u.answer == "" {
			end = c.now + 1
		}
		operations[i] = porcupine.Operation{ClientId: u.client, Input: u.op, Call: u.called, Output: u.answer, Return: end}
	}
	v := Verdict{Operations: len(operations), model: usesModel(c.numbers)}
	c.mu.Unlock()
	v.Result, v.info = porcupine.CheckOperationsVerbose(v.model, operations, limit)
	return v
}

// usage is the state of a claim. Each bit of attached and ended stands for one consumer.
type usage struct {
	there           bool
	attached, ended uint64
}

func usesModel(numbers map[string]int) porcupine.Model {
	m := porcupine.NondeterministicModel{
		Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
			byClaim := map[string]int{}
			for _, op := range history {
				claim := op.Input.(use).claim //nolint:errcheck // histories are made here
				i, known := byClaim[claim]
				if !known {
					i = len(parts)
					byClaim[claim], parts = i, append(parts, nil)
				}
				parts[i] = append(parts[i], op)
			}
			return parts
		},
		Init: func() []any { return []any{usage{}} },
		Step: func(s, input, output any) (out []any) {
			op := input.(use) //nolint:errcheck // see above
			bit := uint64(1) << numbers[op.consumer]
			for _, now := range s.(usage).later() { //nolint:errcheck // see above
				for _, next := range now.step(op.kind, bit, output.(string)) { //nolint:errcheck // see above
					out = append(out, next)
				}
			}
			return out
		},
		DescribeOperation: func(input, output any) string {
			op := input.(use)                                                              //nolint:errcheck // see above
			return op.consumer + " " + op.kind + " " + op.claim + " -> " + output.(string) //nolint:errcheck // see above
		},
	}
	return m.ToModel()
}

// later returns the states that may follow without a request. The service may have detached any of the ended consumers.
func (s usage) later() []usage {
	all := []usage{s}
	for bits := s.attached & s.ended; bits != 0; bits &= bits - 1 {
		for _, one := range all {
			all = append(all, one.without(bits&-bits))
		}
	}
	return all
}

func (s usage) without(bit uint64) usage {
	if s.attached&bit == 0 {
		return s
	}
	s.attached &^= bit
	s.there = s.attached != 0
	return s
}

// step returns the possible states after an operation with this response. It returns none if the response is wrong.
func (s usage) step(kind string, bit uint64, answer string) []usage {
	next, can := s, true
	switch kind {
	case enters:
		next.there, next.attached, can = true, s.attached|bit, s.ended&bit == 0
	case leaves:
		next = s.without(bit)
	case ends:
		next.ended |= bit
		if answer == done {
			next = next.without(bit)
		}
	}
	switch {
	case answer == "" && can:
		return []usage{s, next}
	case answer == "",
		kind == looks && s.there == (answer == there),
		answer == refused && !can:
		return []usage{s}
	case kind != looks && answer != refused && can:
		return []usage{next}
	}
	return nil
}
