package plan

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// batchSize is the number of claims in one request. The claims of a batch are created together and shown together.
const batchSize = 250

// execution carries out steps concurrently. It reports them in the order of the plan.
type execution struct {
	*session.Session
	steps    []step
	parallel int
	report   func(done []step) error

	mu       sync.Mutex
	done     []bool
	reported int
	failed   error
	ends     []chan struct{} // the channel of a step closes when the step has ended or will never run
}

// run carries out all steps. The first refusal stops it, because later steps may depend on the refused step. In that case, it still reports the steps
// that have finished.
func (c *execution) run(ctx context.Context) error {
	c.done, c.ends = make([]bool, len(c.steps)), make([]chan struct{}, len(c.steps))
	deepest := 0
	for i := range c.steps {
		c.ends[i] = make(chan struct{})
		deepest = max(deepest, c.steps[i].depth)
		if did[c.steps[i].Action] == "" { // nothing to do
			close(c.ends[i])
			c.done[i] = true
		}
	}
	c.advance()
	for _, k := range kindsInOrder[:3] {
		c.each(ctx, 1, func(st step) bool { return st.Kind == k.kind && st.Action != actionToDelete })
	}
	for depth := 0; depth <= deepest; depth++ { // one level at a time, because a child needs its parent
		c.each(ctx, c.parallel, func(st step) bool { return st.Kind == kindPool && st.Action != actionToDelete && st.depth == depth })
	}
	c.each(ctx, c.parallel, func(st step) bool { return st.Kind == kindClaim && st.Action == actionToChange })
	c.claims(ctx)
	c.each(ctx, c.parallel, func(st step) bool { return st.Kind == kindClaim && st.Action == actionToDelete })
	c.each(ctx, 1, func(st step) bool { return st.Action == actionToDelete }) // inner objects first
	c.flushRest()
	return c.failed
}

// each carries out the selected steps. At most parallel steps run at the same time.
func (c *execution) each(ctx context.Context, parallel int, meant func(step) bool) {
	var running sync.WaitGroup
	free := make(chan struct{}, max(parallel, 1))
	for i := range c.steps {
		if c.isDone(i) || !meant(c.steps[i]) {
			continue
		}
		if after := c.steps[i].after; after >= 0 {
			<-c.ends[after]
		}
		free <- struct{}{}
		if c.stopped() {
			<-free
			break
		}
		running.Go(func() {
			defer func() { <-free }()
			c.finish(i, c.one(ctx, i))
		})
	}
	running.Wait()
}

// one carries out one step.
func (c *execution) one(ctx context.Context, i int) error {
	st := &c.steps[i]
	path := []string{"projects"}
	for _, k := range kindsInOrder[1:] {
		if k.kind == st.Kind {
			path = c.In(k.collection)
		}
	}
	var a session.Answer
	var err error
	switch st.Action {
	case actionToCreate:
		a, err = c.Post(ctx, session.Writing{Again: true}, session.Request{Path: path, Body: st.body})
	case actionToChange:
		a, err = c.Change(ctx, session.Request{
			Method: http.MethodPatch, Path: append(path, st.Name), Match: st.match(), Body: st.body,
		}, st.Kind+" was changed")
	case actionToDelete:
		_, err = c.Ask(ctx, session.Request{Method: http.MethodDelete, Path: append(path, st.Name), Match: st.match()})
	}
	if err != nil {
		return exit.About(st.Kind+" "+st.Name, err)
	}
	return st.answered(a.Body)
}

// match returns the If-Match of a step. If another step of this plan creates the object, the revision is not known yet, and If-Match is *.
func (st *step) match() string {
	if st.revision == "" {
		return "*"
	}
	return `"` + st.revision + `"`
}

// answered stores the block that a response contains.
func (st *step) answered(doc json.RawMessage) error {
	if len(doc) == 0 {
		return nil
	}
	is, err := show.Decode[placed]([]json.RawMessage{doc})
	if err == nil {
		st.CIDR = show.FirstOf(is[0].Status.AllocatedCIDR, st.CIDR)
	}
	return err
}

// claims creates the missing claims, in batches.
func (c *execution) claims(ctx context.Context) {
	var batch []int
	for i, st := range c.steps {
		if st.Kind == kindClaim && st.Action == actionToCreate && !c.isDone(i) {
			batch = append(batch, i)
		}
		if len(batch) == batchSize || len(batch) > 0 && i == len(c.steps)-1 {
			if c.stopped() {
				return
			}
			err := c.batch(ctx, batch)
			for _, at := range batch {
				c.finish(at, err)
			}
			batch = nil
		}
	}
}

// send sends some claims in one request.
func (c *execution) send(ctx context.Context, which []int, how session.Writing) (session.Answer, error) {
	request := struct {
		Claims []json.RawMessage `json:"claims"`
	}{}
	for _, i := range which {
		request.Claims = append(request.Claims, c.steps[i].body)
	}
	body, err := show.Marshal(request)
	if err != nil {
		return session.Answer{}, err
	}
	a, err := c.Post(ctx, how, session.Request{Path: c.In("claim-batches"), Body: body})
	if err != nil {
		err = exit.About(c.refusedOf(which, err), err)
	}
	return a, err
}

// batch creates some claims with one request. The server creates either all of them or none.
func (c *execution) batch(ctx context.Context, which []int) error {
	a, err := c.send(ctx, which, session.Writing{Again: true})
	if err != nil {
		return err
	}
	var made struct{ Claims []json.RawMessage }
	if err := json.Unmarshal(a.Body, &made); err != nil {
		return err
	}
	for n, doc := range made.Claims[:min(len(made.Claims), len(which))] {
		if err := c.steps[which[n]].answered(doc); err != nil {
			return err
		}
	}
	return nil
}

// refusedOf names the claim that a refusal of a batch is about. If the refusal is about no single claim, it names the first and the last claim.
func (c *execution) refusedOf(which []int, err error) string {
	first, last := c.steps[which[0]].Name, c.steps[which[len(which)-1]].Name
	if at, is := session.ItemOf(err, "claims"); is && at < len(which) {
		return "claim " + c.steps[which[at]].Name
	}
	if first == last {
		return "claim " + first
	}
	return "claims " + first + " to " + last
}

func (c *execution) isDone(i int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done[i]
}

func (c *execution) stopped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed != nil
}

// finish records the end of a step.
func (c *execution) finish(i int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.ends[i])
	if err != nil {
		if c.failed == nil || errors.Is(c.failed, context.Canceled) {
			c.failed = err
		}
		return
	}
	if word := did[c.steps[i].Action]; word != "" {
		c.steps[i].Action = word
	}
	c.done[i] = true
	c.advance()
}

// advance reports the finished steps up to the first step that has not finished.
func (c *execution) advance() {
	from := c.reported
	for c.reported < len(c.done) && c.done[c.reported] {
		c.reported++
	}
	if c.reported > from {
		if err := c.report(c.steps[from:c.reported]); err != nil && c.failed == nil {
			c.failed = err
		}
	}
}

// flushRest reports the finished steps that come after a step that has not finished.
func (c *execution) flushRest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	var rest []step
	for i := c.reported; i < len(c.done); i++ {
		if c.done[i] {
			rest = append(rest, c.steps[i])
		}
	}
	if err := c.report(rest); err != nil && c.failed == nil {
		c.failed = err
	}
}
