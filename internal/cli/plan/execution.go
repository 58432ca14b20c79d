package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// execution carries out steps concurrently. It reports them in the plan's order.
type execution struct {
	converge.Runner
	steps  []step
	report func(done []step) error

	mu       sync.Mutex
	done     []bool
	reported int
	failed   error
}

// run carries out all steps. The first refusal stops it, because later steps may depend on the refused step. In that case, it still reports the steps
// that have finished.
func (c *execution) run(ctx context.Context) error {
	c.done = make([]bool, len(c.steps))
	for i, st := range c.steps {
		c.done[i] = did[st.Action] == "" // nothing to do
	}
	c.advance()
	for _, wave := range c.waves() {
		if c.failed != nil {
			break
		}
		_ = c.Each(len(wave), func(n int) error { // finish has stored the error
			for _, some := range wave[n] {
				if err := c.finish(some, c.do(ctx, some)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	c.flushRest()
	return c.failed
}

// batchSize limits the claims in one request, which the server creates together.
const batchSize = 250

// chain has steps that run one after the other. Each element has the indexes of one request's steps.
type chain [][]int

// waves returns the steps that are not done. A wave starts when the previous wave has ended. Its chains run at the same time.
func (c *execution) waves() (out [][]chain) {
	type position struct {
		wave  int
		chain string
	}
	waves, at := map[int][]chain{}, map[position]int{}
	for i, st := range c.steps {
		if c.done[i] {
			continue
		}
		wave, apart := st.wave()
		in := position{wave, ""}
		switch {
		case apart && st.inTurn:
			in.chain = "in " + st.parent
		case apart:
			in.chain = strconv.Itoa(i)
		}
		n, found := at[in]
		if !found {
			n = len(waves[wave])
			at[in], waves[wave] = n, append(waves[wave], nil)
		}
		steps := &waves[wave][n]
		if last := len(*steps) - 1; wave == waveOfClaims && last >= 0 && len((*steps)[last]) < batchSize {
			(*steps)[last] = append((*steps)[last], i)
		} else {
			*steps = append(*steps, []int{i})
		}
	}
	for _, chains := range show.Sorted(waves) {
		out = append(out, chains)
	}
	return out
}

// waveOfClaims is the wave that creates claims. All pools are in earlier waves.
const waveOfClaims = 1000

// wave returns a step's wave. Each pool level is a wave, because a child needs its parent. apart is true if the step does not wait for other steps in
// its wave.
func (st *step) wave() (wave int, apart bool) {
	switch claim := st.Kind == kindClaim; {
	case st.Action == actionToDelete && !claim:
		return waveOfClaims + 2, false // inner objects first
	case st.Action == actionToDelete:
		return waveOfClaims + 1, true
	case claim && st.Action == actionToCreate:
		return waveOfClaims, false
	case claim:
		return waveOfClaims - 1, true
	case st.Kind == kindPool:
		return len(kindsInOrder) + st.depth, true
	default:
		return slices.Index(kindsInOrder, st.Kind), false
	}
}

// do sends the request for some steps.
func (c *execution) do(ctx context.Context, which []int) error {
	st := &c.steps[which[0]]
	if st.Kind == kindClaim && st.Action == actionToCreate {
		return c.batch(ctx, which)
	}
	path := []string{"projects"}
	if st.Kind != kindProject {
		path = c.In(show.Plural(st.Kind))
	}
	var a session.Answer
	var err error
	switch one := slices.Concat(path, []string{st.Name}); st.Action {
	case actionToCreate:
		a, err = c.Post(ctx, session.Writing{Again: true}, session.Request{Path: path, Body: st.body})
	case actionToChange:
		a, err = c.Change(ctx, session.Request{Method: http.MethodPatch, Path: one, Match: st.match(), Body: st.body}, st.Kind+" was changed")
	case actionToDelete:
		_, err = c.Ask(ctx, session.Request{Method: http.MethodDelete, Path: one, Match: st.match()})
	}
	if err != nil {
		return exit.About(st.Kind+" "+st.Name, err)
	}
	return st.setBlock(a.Body)
}

// match returns a step's If-Match. If another step creates the object, the revision is not known yet, and If-Match is *.
func (st *step) match() string {
	if st.revision == "" {
		return "*"
	}
	return `"` + st.revision + `"`
}

// setBlock stores the block that a response contains.
func (st *step) setBlock(doc json.RawMessage) error {
	if len(doc) == 0 {
		return nil
	}
	var is head
	err := json.Unmarshal(doc, &is)
	st.CIDR = show.FirstOf(is.Status.AllocatedCIDR, st.CIDR)
	return err
}

// send sends some claims in one request.
func (c *execution) send(ctx context.Context, which []int, how session.Writing) (session.Answer, error) {
	claims := make([]json.RawMessage, len(which))
	for n, i := range which {
		claims[n] = c.steps[i].body
	}
	a, err := c.Post(ctx, how, session.Request{Path: c.In("claim-batches"), Body: map[string]any{"claims": claims}})
	if err != nil {
		err = exit.About(c.refusedOf(which, err), err)
	}
	return a, err
}

// batch creates some claims with one request. The server creates all or none.
func (c *execution) batch(ctx context.Context, which []int) error {
	made, err := session.Into[struct{ Claims []json.RawMessage }](c.send(ctx, which, session.Writing{Again: true}))
	if err != nil {
		return err
	}
	for n, doc := range made.Claims[:min(len(made.Claims), len(which))] {
		if err := c.steps[which[n]].setBlock(doc); err != nil {
			return err
		}
	}
	return nil
}

// refusedOf names the claim that the server refused. If the refusal is not about one claim, it names the batch's first and last claim.
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

// finish records that a request has ended. It returns the first error from any request, so that no other step starts after an error.
func (c *execution) finish(which []int, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.failed = cmp.Or(c.failed, err)
		return c.failed
	}
	for _, i := range which {
		c.steps[i].Action, c.done[i] = did[c.steps[i].Action], true
	}
	c.advance()
	return c.failed
}

// advance reports the finished steps up to the first step that has not finished.
func (c *execution) advance() {
	from := c.reported
	for c.reported < len(c.done) && c.done[c.reported] {
		c.reported++
	}
	if c.reported > from {
		c.failed = cmp.Or(c.failed, c.report(c.steps[from:c.reported]))
	}
}

// flushRest reports the finished steps that come after a step that has not finished.
func (c *execution) flushRest() {
	var rest []step
	for i := c.reported; i < len(c.done); i++ {
		if c.done[i] {
			rest = append(rest, c.steps[i])
		}
	}
	c.failed = cmp.Or(c.failed, c.report(rest))
}
