package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// judge resolves open outcomes after all faults have ended, and runs all checks.
func (run *run) judge(ctx context.Context, res *Result) error {
	// First wait until no request is under way. From then on, the stored state is final.
	for _, r := range run.regions {
		if err := r.rest(ctx); err != nil {
			return fmt.Errorf("waiting for server %d to end: %w", r.index, err)
		}
	}
	if err := run.audit(ctx, "after the storm"); err != nil {
		return err
	}
	for _, r := range run.regions {
		if err := r.start(ctx); err != nil {
			return fmt.Errorf("starting server %d: %w", r.index, err)
		}
	}
	if err := run.tells(ctx); err != nil {
		return err
	}
	stored, err := run.stored(ctx)
	if err != nil {
		return err
	}
	run.findOut(ctx, stored)
	if stored, err = run.stored(ctx); err != nil {
		return err
	}
	run.compare(stored)
	run.pardon()
	run.linearizable(res)
	run.budget(res)
	run.cooled()
	run.heldUp()
	run.tryKeys(ctx)
	run.inherited(res)
	if err := run.herded(ctx, res); err != nil {
		return err
	}
	if err := run.past(ctx, res); err != nil {
		return err
	}
	if run.plan.Settle {
		run.usable(ctx, stored)
		return run.audit(ctx, "after the pools were emptied")
	}
	return nil
}

// stored returns the existing claims and pools by name. Every server must return the same list.
func (run *run) stored(ctx context.Context) (map[string]thing, error) {
	var first map[string]thing
	for _, r := range run.regions {
		all := map[string]thing{}
		for _, kind := range []string{"claims", "pools"} {
			if err := run.list(ctx, r, kind, all); err != nil {
				return nil, err
			}
		}
		for _, p := range run.plan.Pools {
			delete(all, p.Name)
		}
		if first == nil {
			first = all
			continue
		}
		for name, t := range all {
			if first[name] != t {
				run.ledger.violated("told", name, "servers 0 and %d list it differently: %v, %v", r.index, first[name], t)
			}
		}
		if len(all) != len(first) {
			run.ledger.violated("told", "", "server 0 lists %d things, server %d %d", len(first), r.index, len(all))
		}
	}
	return first, nil
}

func (run *run) list(ctx context.Context, r *region, kind string, into map[string]thing) error {
	for cursor := ""; ; {
		path := at(kind) + "?limit=500"
		if cursor != "" {
			path += "&cursor=" + cursor
		}
		a := run.read(ctx, r, path)
		if a.meaning() != succeeded {
			return fmt.Errorf("GET %s: %d %s %w", path, a.status, a.body, errors.Join(a.err))
		}
		var page struct {
			Items      []thing
			NextCursor string
		}
		if err := json.Unmarshal(a.body, &page); err != nil {
			return err
		}
		for _, t := range page.Items {
			into[t.Metadata.Name] = t
		}
		if cursor = page.NextCursor; cursor == "" {
			return nil
		}
	}
}

// read reads a path. It retries, because a busy machine may be too slow to respond.
func (run *run) read(ctx context.Context, r *region, path string) answer {
	return run.persist(ctx, r, request{method: http.MethodGet, path: path})
}

// persist sends a request after all faults have ended. It retries, because a busy machine may be too slow to respond.
func (run *run) persist(ctx context.Context, r *region, q request) answer {
	q.patience = 20 * time.Second
	for try := 0; ; try++ {
		a := run.caller.do(ctx, r, q)
		if m := a.meaning(); m == succeeded || m == refused || try == maxTries || !wait(ctx, time.Duration(5+10*try)*time.Millisecond) {
			return a
		}
	}
}

// findStored returns the stored object of an entry. It searches by name, or by prefix if the service generated the name.
func findStored(e *entry, stored map[string]thing) (thing, bool) {
	if e.op.Kind != Generated {
		t, ok := stored[e.label()]
		return t, ok
	}
	for name, t := range stored {
		if strings.HasPrefix(name, e.label()+"-") {
			return t, true
		}
	}
	return thing{}, false
}

// findOut sends the requests with unknown outcomes again. A request with a key or a given name must now get a certain response. If the object exists,
// the response must match it.
func (run *run) findOut(ctx context.Context, stored map[string]thing) {
	for _, ops := range run.plan.Ops {
		for i := range ops {
			op := &ops[i]
			for _, name := range op.Names {
				if e := run.ledger.find(name); e != nil && run.ledger.known(e).state == isReleasing {
					run.insist(ctx, &Op{Client: op.Client, Number: op.Number, Kind: Release}, e, true)
				}
			}
			var open []*entry
			for _, name := range op.Names {
				if e := run.ledger.find(name); e != nil && run.ledger.known(e).state == isOpen {
					open = append(open, e)
				}
			}
			if len(open) > 0 {
				run.findOutMade(ctx, op, open, stored)
			}
		}
	}
	for _, e := range run.ledger.all() {
		if e.state == isOpen || e.state == isReleasing {
			run.ledger.violated("unreachable", e.label(), "a repeat in calm weather gets no certain answer: it is %s", e.state)
		}
	}
}

func (run *run) findOutMade(ctx context.Context, op *Op, open []*entry, stored map[string]thing) {
	there := make([]thing, 0, len(open))
	for _, e := range open {
		if t, ok := findStored(e, stored); ok {
			there = append(there, t)
		}
	}
	if len(there) > 0 && len(there) < len(op.Names) {
		run.ledger.violated("halves", op.ID(), "%d of a batch of %d exist", len(there), len(op.Names))
		return
	}
	first := run.ledger.known(open[0])
	if op.Kind == Generated && !op.Keyed || first.refuse != "" {
		if len(there) > 0 {
			run.ledger.got(open, there)
		} else {
			run.ledger.absent(open, "")
		}
		return
	}
	calm := *op
	calm.Leave, calm.Patience = false, 0
	run.settle(ctx, &calm, open, true)
	for i, t := range there {
		if now := run.ledger.known(open[i]); now.state != isHeld || now.uid != t.Metadata.UID || now.block != t.Status.AllocatedCIDR {
			run.ledger.violated("unreachable", op.Names[i], "stored is %s %v; the repeat is answered: %s %s %v",
				t.Metadata.UID, t.Status.AllocatedCIDR, now.state, now.uid, now.block)
		}
	}
}

// compare checks that the responses to clients match the stored objects.
func (run *run) compare(stored map[string]thing) {
	seen := map[string]bool{}
	for _, e := range run.ledger.all() {
		t, there := stored[e.name]
		if e.name == "" {
			t, there = findStored(&e, stored)
		}
		if there {
			seen[t.Metadata.Name] = true
		}
		switch {
		case e.state == isHeld && !there:
			run.ledger.violated("lost", e.label(), "held with %v, as its client was told, and not stored", e.block)
		case e.state == isHeld && (t.Metadata.UID != e.uid || t.Status.AllocatedCIDR != e.block):
			run.ledger.violated("told", e.label(), "held as %s %v, as its client was told, and stored as %s %v", e.uid, e.block, t.Metadata.UID, t.Status.AllocatedCIDR)
		case (e.state == isAbsent || e.state == isReleased) && there:
			run.ledger.violated("told", e.label(), "%s, as its client was told, and stored with %v", e.state, t.Status.AllocatedCIDR)
		}
	}
	for name, t := range stored {
		if !seen[name] {
			run.ledger.violated("leaked", name, "stored with %v, and nobody was told of it", t.Status.AllocatedCIDR)
		}
	}
}

// usable empties the pools. It then claims each pool as a whole, which succeeds only if all its blocks are free and merged.
func (run *run) usable(ctx context.Context, stored map[string]thing) {
	do := func(r int, method, path string, body any) answer {
		q := request{method: method, path: path, body: body, patience: 20 * time.Second}
		if method == http.MethodPost {
			q.key = run.fresh()
		}
		for try := 0; ; try++ {
			a := run.caller.do(ctx, run.regions[r], q)
			if try > 0 && method == http.MethodDelete && a.code == ipam.CodeNotFound { // an earlier attempt deleted it
				return answer{status: http.StatusNoContent}
			}
			if m := a.meaning(); m == succeeded || m == refused || try == maxTries {
				return a
			}
		}
	}
	n := 0
	for name := range stored {
		e := run.ledger.find(name)
		if e != nil && e.op.Kind == Child {
			continue
		}
		n++
		if a := do(n%len(run.regions), http.MethodDelete, at("claims", name), nil); a.meaning() != succeeded {
			run.ledger.violated("unusable", name, "cannot be released: %d %s %v", a.status, a.body, a.err)
		}
	}
	for name := range stored {
		if e := run.ledger.find(name); e != nil && e.op.Kind == Child {
			if a := do(0, http.MethodDelete, at("pools", name), nil); a.meaning() != succeeded {
				run.ledger.violated("unusable", name, "cannot be deleted: %d %s %v", a.status, a.body, a.err)
			}
		}
	}
	run.thaw(ctx, do) // after a restore, blocks that are missing in the region's rows cool down too
	for i, p := range run.plan.Pools {
		run.whole(do, i, p)
	}
}

// whole claims a pool as a whole. If several regions serve the pool, each region claims it in turn. For each claim, the blocks that other regions
// have borrowed return first and then move to the claiming region.
func (run *run) whole(do func(r int, method, path string, body any) answer, first int, p Pool) {
	turns := 1
	if run.plan.Served && p.judged() { // the released blocks of pools without judgement cool down
		turns = len(run.regions)
	}
	for turn := range turns {
		r, name := (first+turn)%len(run.regions), fmt.Sprintf("whole-%s-%d", p.Name, turn)
		spec := obj{"poolRef": obj{"name": p.Name}, "prefixLength": p.Block.Bits(), "reclaimPolicy": "Delete"}
		a := do(r, http.MethodPost, at("claims"), obj{"metadata": obj{"name": name}, "spec": spec})
		if a.meaning() != succeeded {
			run.ledger.violated("unusable", p.Name, "cannot be claimed as a whole by server %d when it is empty: %d %s %v", r, a.status, a.body, a.err)
			return
		}
		if turn == turns-1 {
			return
		}
		if a := do(r, http.MethodDelete, at("claims", name), nil); a.meaning() != succeeded {
			run.ledger.violated("unusable", name, "cannot be released: %d %s %v", a.status, a.body, a.err)
		}
	}
}

// find returns the entry with a label, or nil.
func (l *ledger) find(label string) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entries[label]
}

// all returns copies of all entries, sorted by label.
func (l *ledger) all() []entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]entry, 0, len(l.entries))
	for _, e := range l.entries {
		out = append(out, *e)
	}
	slices.SortFunc(out, func(a, b entry) int { return strings.Compare(a.label(), b.label()) })
	return out
}
