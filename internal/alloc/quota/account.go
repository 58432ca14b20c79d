package quota

import (
	"math/big"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// account is one quota in a ledger: the shards that the transaction has read, as they were and as they are to be.
type account struct {
	quota    ipam.Quota
	was, now []ipam.QuotaShard // the transaction's own shard first
	made     []ipam.QuotaShard // the shards of the transaction's own region, if there are none yet: not among was and now, but for the own one
	complete bool              // all shards are here
	stale    bool              // the transaction's own shard is not any more what was[own] says
}

// own is where the transaction's own shard is.
const own = 0

func newAccount(p storage.QuotaPart) *account {
	a := &account{quota: p.Quota, was: []ipam.QuotaShard{p.Shard}, now: []ipam.QuotaShard{p.Shard}}
	if p.Missing {
		a.made = emptyShards(p.Quota.UID, p.Shard.Region)
	}
	return a
}

// add takes in one more shard. The transaction's own is here already, of an earlier moment: it becomes what it is now, less what
// was taken meanwhile, so that the sum is of one moment. Should it have changed after something was taken from it, the decision is right
// and the plan is not: the write still expects what was read at first, and so ends the attempt.
func (a *account) add(s ipam.QuotaShard) {
	was, now := &a.was[own], &a.now[own]
	if s.Region == was.Region {
		a.made = nil // somebody has made them meanwhile
	}
	switch {
	case s.Shard != was.Shard || s.Region != was.Region:
		a.was, a.now = append(a.was, s), append(a.now, s)
	case sameUsage(was.Used, s.Used) && sameUsage(was.Spare, s.Spare):
	case sameUsage(was.Used, now.Used) && sameUsage(was.Spare, now.Spare):
		*was, *now = s, s
	default:
		a.stale = true
		now.Used = now.Used.Add(was.Used.Negative()).Add(s.Used)
		now.Spare = now.Spare.Add(was.Spare.Negative()).Add(s.Spare)
	}
}

// suffices reports whether the transaction's own shard alone allows for a usage.
func (a *account) suffices(u ipam.Usage) bool {
	if a.quota.Overdrawn || a.made != nil {
		return false
	}
	for _, m := range Measures {
		if m.Limit(a.quota.Spec.Limits) != nil && m.Of(a.now[own].Spare).Cmp(m.Of(u)) < 0 {
			return false
		}
	}
	return true
}

// refusal says which limit does not allow for a usage; nil: all do. Nobody is refused for a measure that is not asked for,
// even if that is overdrawn.
func (a *account) refusal(project storage.ProjectKey, u ipam.Usage, oneRequest bool) error {
	if !a.complete {
		return nil // the transaction's own shard was enough
	}
	for _, m := range Measures {
		limit, n := m.Limit(a.quota.Spec.Limits), m.Of(u)
		if limit == nil || n.Sign() <= 0 || a.spare(m).Cmp(n) >= 0 {
			continue
		}
		used := m.Of(usedOf(a.now))
		if oneRequest {
			before := m.Of(usedOf(a.was))
			n = new(big.Int).Add(n, new(big.Int).Sub(used, before))
			used = before
		}
		return quotaExceeded(ipam.Ref{Project: project.Name, Name: a.quota.Name}, m, limit, used, n).Because(&QuotaLack{scope: a.quota.Spec.Scope, measure: m, usage: u})
	}
	return nil
}

// provide moves spare to the transaction's own shard where that has too little: as much as is missing, and half of what
// is left after that. So the next transactions on this container need not read all shards again, while those on
// others find something in theirs; from n to spare, a shard that is drawn on alone reads all of them log2(n) times.
// The fullest shards give first, so that few rows are written.
func (a *account) provide(u ipam.Usage) {
	for _, m := range Measures {
		n, mine := m.Of(u), m.Of(a.now[own].Spare)
		if m.Limit(a.quota.Spec.Limits) == nil || n.Cmp(mine) <= 0 {
			continue
		}
		rest := new(big.Int).Sub(a.spare(m), n)
		want := new(big.Int).Add(n, rest.Rsh(rest, 1))
		a.fetch(m, want.Sub(want, mine))
	}
}

// fetch brings n of a measure's spare to the transaction's own shard from the fullest of the others; there is that much.
func (a *account) fetch(m measure, n *big.Int) {
	from := make([]int, 0, len(a.now))
	for i := range a.now {
		if i != own && m.Of(a.now[i].Spare).Sign() > 0 {
			from = append(from, i)
		}
	}
	slices.SortStableFunc(from, func(i, j int) int { return m.Of(a.now[j].Spare).Cmp(m.Of(a.now[i].Spare)) })
	left := new(big.Int).Set(n)
	for _, i := range from {
		if left.Sign() <= 0 {
			return
		}
		part := new(big.Int).Set(m.Of(a.now[i].Spare))
		if part.Cmp(left) > 0 {
			part.Set(left)
		}
		left.Sub(left, part)
		a.now[i].Spare = a.now[i].Spare.Add(m.only(part).Negative())
		a.now[own].Spare = a.now[own].Spare.Add(m.only(part))
	}
}

// count adds a usage to the transaction's own shard, and takes what is bounded of it from that shard's spare.
func (a *account) count(u ipam.Usage) {
	s := &a.now[own]
	s.Used = s.Used.Add(u)
	s.Spare = s.Spare.Add(bounded(u, a.quota.Spec.Limits).Negative())
}

// recover reports whether the quota was overdrawn and is not any more. Then no shard's spare may stay negative, because
// from now on each is trusted alone.
func (a *account) recover() bool {
	if !a.quota.Overdrawn || !a.complete || overdrawn(a.quota.Spec.Limits, usedOf(a.now)) {
		return false
	}
	a.now = respread(a.quota.Spec.Limits, a.now)
	return true
}

// changes is the shards that are not as they were.
func (a *account) changes() []storage.ShardUpdate {
	var out []storage.ShardUpdate
	for i := range a.now {
		if i == own && a.made != nil {
			continue // it is inserted
		}
		if (i == own && a.stale) || !sameUsage(a.was[i].Used, a.now[i].Used) || !sameUsage(a.was[i].Spare, a.now[i].Spare) {
			out = append(out, storage.ShardUpdate{Was: a.was[i], Now: a.now[i]})
		}
	}
	return out
}

// inserts is the shards of the transaction's own region, if that had none and something was counted there.
func (a *account) inserts() []ipam.QuotaShard {
	if a.made == nil || sameUsage(a.was[own].Used, a.now[own].Used) && sameUsage(a.was[own].Spare, a.now[own].Spare) {
		return nil
	}
	out := slices.Clone(a.made)
	out[a.now[own].Shard] = a.now[own]
	return out
}

// spare is what is left of a measure in all shards.
func (a *account) spare(m measure) *big.Int {
	sum := new(big.Int)
	for _, s := range a.now {
		sum.Add(sum, m.Of(s.Spare))
	}
	return sum
}
