package claims

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// member is one request in a group: the creation of a claim, or its release.
type member struct {
	ctx     context.Context
	key     storage.ProjectKey
	request usecase.Request
	create  bool
	ask     resolve.Ask // create
	claim   ipam.Claim  // create: prepared; release: as it was read
	event   ipam.Event  // what the trail is to say, without the effect: made from the request's own context
	random  ipam.ID     // create
	seen    seen        // create

	revision ipam.ID           // release under ReclaimRetain: of the allocation afterwards
	now      usecase.Timestamp // release

	joined time.Time     // when it began to wait, and
	waited time.Duration // how long it did until its first transaction; for whoever follows it

	done     chan struct{}
	finished bool // by the leader, who alone reads and writes it, and the next one
	unsure   bool // the outcome of a COMMIT with this member was unknown: it may still take effect
	outcome  ipam.Claim
	err      error
}

// stamp sets the time of what the member does to that of its transaction, which is alone with the pool: so that of two holds of one block the later one
// begins when the earlier one ends, or after, however long each request had waited, and whichever server served it.
func (m *member) stamp(at usecase.Timestamp) {
	if m.create {
		m.claim.CreatedAt, m.claim.UpdatedAt = at, at
	} else {
		m.now = at
	}
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
	seen := make(map[subject]bool, 2*len(members))
	for _, m := range members {
		name := subject{"release", storage.NameRef{ProjectID: m.key.ID, Name: m.claim.Name}}
		if m.create {
			name.what = "create"
		}
		key := subject{"key", storage.NameRef{ProjectID: m.key.ID, Name: m.request.Key}}
		if seen[name] || (m.request.Key != "" && seen[key]) {
			doubles = append(doubles, m)
			continue
		}
		seen[name], seen[key] = true, true
		singles = append(singles, m)
	}
	return singles, doubles
}

// isIn reports whether a conflict is about this member.
func (m *member) isIn(c *storage.Conflict) bool {
	for _, ref := range c.ClaimRefs {
		if ref.ProjectID == m.key.ID && ref.Name == m.claim.Name {
			return true
		}
	}
	if m.request.Key != "" {
		for _, ref := range c.AnswerKeys {
			if ref.ProjectID == m.key.ID && ref.Name == m.request.Key {
				return true
			}
		}
	}
	return false
}
