package claims

import (
	"context"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// member is an order in a group. Each member has its own outcome.
type member struct {
	*order

	ctx    context.Context
	lock   ipam.ID       // the pool's lock
	joined time.Time     // the start of the wait, for traces
	waited time.Duration // the time until the first transaction began, for traces

	done          chan struct{}
	finished      bool // only the group's worker uses this field, and after it the next worker
	commitUnknown bool // an earlier COMMIT with this member has an unknown result; that COMMIT may still take effect
	outcome       ipam.Claim
	err           error
}

// traceGroup returns a traced context for a group's transaction. The caller must call ended after the transaction.
func (s *groups) traceGroup(ctx context.Context, pool ipam.Pool, members []*member) (_ context.Context, ended func()) {
	if s.Tracer == nil {
		return ctx, func() {}
	}
	contexts, waited := make([]context.Context, len(members)), make([]time.Duration, len(members))
	for i, m := range members {
		if m.waited < 0 {
			m.waited = s.Ticks().Sub(m.joined)
		}
		contexts[i], waited[i] = m.ctx, m.waited //nolint:fatcontext // a list of contexts; no context contains another
	}
	ctx = s.Tracer.GroupBegan(ctx, pool.Ref().String(), contexts, waited)
	return ctx, func() { s.Tracer.GroupEnded(ctx) }
}

func finish(members []*member, err error) {
	for _, m := range members {
		m.finish(ipam.Claim{}, err)
	}
}

// finish gives a member its outcome. Only the first call counts, because after a panic run finishes some members a second time.
func (m *member) finish(c ipam.Claim, err error) {
	if m.finished {
		return
	}
	if m.commitUnknown && storage.RetryLater(err) {
		err = storage.OutcomeUnknown(err) // the error means that nothing was changed, and this may now be false
	}
	m.finished, m.outcome, m.err = true, c, err
	if m.done != nil {
		close(m.done)
	}
}

// splitRepeats separates the members that repeat an earlier member in the group. A repeat has the same name to create, the same claim to release, or
// the same key. The repeats must not be in the same statement, because a statement cannot distinguish equal rows in its input.
func splitRepeats(members []*member) (singles, doubles []*member) {
	type subject struct {
		what string
		ref  storage.NameRef
	}
	seen := make(map[subject]bool, len(members))
	for _, m := range members {
		name, key := subject{"release", m.name()}, subject{"key", m.keyRef()}
		if m.binds() {
			name.what = "create"
		}
		if seen[name] || (m.request.Key != "" && seen[key]) {
			doubles = append(doubles, m)
			continue
		}
		seen[name] = true
		if m.request.Key != "" {
			seen[key] = true
		}
		singles = append(singles, m)
	}
	return singles, doubles
}

// conflictsWith reports whether a conflict is about this member.
func (m *member) conflictsWith(c *storage.Conflict) bool {
	return slices.Contains(c.ClaimRefs, m.name()) || m.request.Key != "" && slices.Contains(c.IdempotencyKeys, m.keyRef())
}
