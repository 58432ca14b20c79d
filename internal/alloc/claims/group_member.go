package claims

import (
	"context"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// member is an order in a group, with its own outcome.
type member struct {
	*order

	ctx    context.Context
	lane   ipam.ID       // what stands for its pool in locks
	joined time.Time     // when it began to wait, and
	waited time.Duration // how long it did until its first transaction; for whoever follows it

	done     chan struct{}
	finished bool // by the leader, who alone reads and writes it, and the next one
	unsure   bool // the outcome of a COMMIT with this member was unknown: it may still take effect
	outcome  ipam.Claim
	err      error
}

// follow is what a group's transaction runs in; ended is called when it has.
func (s *groups) follow(ctx context.Context, pool ipam.Pool, members []*member) (_ context.Context, ended func()) {
	if s.Tracer == nil {
		return ctx, func() {}
	}
	contexts, waited := make([]context.Context, len(members)), make([]time.Duration, len(members))
	for i, m := range members {
		if m.waited < 0 {
			m.waited = s.Ticks().Sub(m.joined)
		}
		contexts[i], waited[i] = m.ctx, m.waited //nolint:fatcontext // they are collected, none is in another
	}
	ctx = s.Tracer.GroupBegan(ctx, pool.Ref().String(), contexts, waited)
	return ctx, func() { s.Tracer.GroupEnded(ctx) }
}

func finish(members []*member, err error) {
	for _, m := range members {
		m.finish(ipam.Claim{}, err)
	}
}

// finish gives a member its outcome. The first one stands: after a panic all members are finished, some for the second time.
func (m *member) finish(c ipam.Claim, err error) {
	if m.finished {
		return
	}
	if m.unsure && storage.RetryLater(err) {
		err = storage.OutcomeUnknown(err) // "nothing was changed" cannot be said any more
	}
	m.finished, m.outcome, m.err = true, c, err
	if m.done != nil {
		close(m.done)
	}
}

// withoutDoubles takes out the members that say what an earlier one says: the creation of the same name, the release of
// the same claim, a creation with the same key. One statement cannot tell two equal rows that it is given apart.
func withoutDoubles(members []*member) (singles, doubles []*member) {
	type subject struct {
		what string
		ref  storage.NameRef
	}
	seen := make(map[subject]bool, len(members))
	for _, m := range members {
		name, key := subject{"release", m.name()}, subject{"key", m.answerKey()}
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

// isIn reports whether a conflict is about this member.
func (m *member) isIn(c *storage.Conflict) bool {
	return slices.Contains(c.ClaimRefs, m.name()) || m.request.Key != "" && slices.Contains(c.AnswerKeys, m.answerKey())
}
