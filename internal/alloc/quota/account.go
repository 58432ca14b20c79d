package quota

import (
	"math/big"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// account is one quota in a ledger: the shards that the transaction has read, in their old and new states.
type account struct {
	quota    ipam.Quota
	was, now []ipam.QuotaShard // the transaction's own shard first
	made     []ipam.QuotaShard // shards to insert if the transaction's region has none yet; was and now have only the transaction's own one
	complete bool              // the account has all shards
	stale    bool              // the transaction's own shard no longer equals was[own]
}

// own is the index for the transaction's own shard.
const own = 0

func newAccount(p storage.QuotaPart) *account {
	a := &account{quota: p.Quota, was: []ipam.QuotaShard{p.Shard}, now: []ipam.QuotaShard{p.Shard}}
	if p.Missing {
		a.made = emptyShards(p.Quota.UID, p.Shard.Region)
	}
	return a
}

// add adds one more shard. The account already has the transaction's own shard, as read earlier; add replaces that by the current state, less the
// amounts taken meanwhile, so that the sum is from one moment. If the shard changed after the transaction took from it, the decision is right but the
// plan is not: the write still expects the earlier state, and so ends the attempt.
func (a *account) add(s ipam.QuotaShard) {
	was, now := &a.was[own], &a.now[own]
	if s.Region == was.Region {
		a.made = nil // another transaction has made them meanwhile
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

// suffices reports whether the transaction's own shard alone allows a usage.
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

// refusal returns the error for the first limit that does not allow a usage; nil if all do. It ignores a measure that the request does not use, even
// if that measure is overdrawn.
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

// provide moves spare to the transaction's own shard if that has too little: the missing amount, and half the rest. Then the next transactions on
// this container need not read all shards again, and transactions on other containers still find spare in theirs. A shard that is the only one in use
// reads all of them log2(n) times until a spare of n is used up. The fullest shards give first, so that the transaction writes few rows.
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

// fetch moves n of a measure's spare from the fullest other shards to the transaction's own; they have that much.
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

// count adds a usage to the transaction's own shard, and takes the limited measures from that shard's spare.
func (a *account) count(u ipam.Usage) {
	s := &a.now[own]
	s.Used = s.Used.Add(u)
	s.Spare = s.Spare.Add(bounded(u, a.quota.Spec.Limits).Negative())
}

// recover reports whether the quota was overdrawn and no longer is. In that case it spreads the spare again, because no shard's spare may stay
// negative: from now on transactions use each shard alone.
func (a *account) recover() bool {
	if !a.quota.Overdrawn || !a.complete || overdrawn(a.quota.Spec.Limits, usedOf(a.now)) {
		return false
	}
	a.now = respread(a.quota.Spec.Limits, a.now)
	return true
}

// changes returns the shards that have changed.
func (a *account) changes() []storage.ShardUpdate {
	var out []storage.ShardUpdate
	for i := range a.now {
		if i == own && a.made != nil {
			continue // inserts returns it
		}
		if (i == own && a.stale) || !sameUsage(a.was[i].Used, a.now[i].Used) || !sameUsage(a.was[i].Spare, a.now[i].Spare) {
			out = append(out, storage.ShardUpdate{Was: a.was[i], Now: a.now[i]})
		}
	}
	return out
}

// inserts returns the shards in the transaction's own region, if that had none and the transaction counted something there.
func (a *account) inserts() []ipam.QuotaShard {
	if a.made == nil || sameUsage(a.was[own].Used, a.now[own].Used) && sameUsage(a.was[own].Spare, a.now[own].Spare) {
		return nil
	}
	out := slices.Clone(a.made)
	out[a.now[own].Shard] = a.now[own]
	return out
}

// spare returns a measure's spare in all shards.
func (a *account) spare(m measure) *big.Int {
	sum := new(big.Int)
	for _, s := range a.now {
		sum.Add(sum, m.Of(s.Spare))
	}
	return sum
}
