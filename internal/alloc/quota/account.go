package quota

import (
	"math/big"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// account is one quota in a ledger. It has the shards that the transaction has read, in their old and new states.
type account struct {
	quota    ipam.Quota
	was, now []ipam.QuotaShard // the transaction's own shard first
	made     []ipam.QuotaShard // shards to insert if the transaction's region has none yet; was and now then contain only the own shard
	complete bool              // the account has all shards
	stale    bool              // the transaction's own shard no longer equals was[ownShard]
}

// ownShard is the index of the transaction's own shard in was and now.
const ownShard = 0

func newAccount(p storage.QuotaPart) *account {
	a := &account{quota: p.Quota, was: []ipam.QuotaShard{p.Shard}, now: []ipam.QuotaShard{p.Shard}}
	if p.Missing {
		a.made = emptyShards(p.Quota.UID, p.Shard.Region)
	}
	return a
}

// add adds a shard that the transaction has just read.
//
// The account already has the transaction's own shard from an earlier read. If s is that shard, add replaces its state with the state in s, less the
// amounts that the transaction has taken since the earlier read. So all shards show the same moment, and their sum is right.
//
// The own shard may have changed in the database after the transaction took from it. Then the decision is still right, but the account is stale. The
// write fails, because it expects the earlier state, and the transaction runs again.
func (a *account) add(s ipam.QuotaShard) {
	was, now := &a.was[ownShard], &a.now[ownShard]
	if s.Region == was.Region {
		a.made = nil // another transaction has inserted them in the meantime
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

// suffices reports whether the transaction's own shard has enough spare for a usage. It returns false for an overdrawn quota.
func (a *account) suffices(u ipam.Usage) bool {
	if a.quota.Overdrawn || a.made != nil {
		return false
	}
	for _, m := range Measures {
		if m.Limit(a.quota.Spec.Limits) != nil && m.Of(a.now[ownShard].Spare).Cmp(m.Of(u)) < 0 {
			return false
		}
	}
	return true
}

// refusal returns the error for the first limit that does not allow a usage. It returns nil if all limits allow the usage. It ignores a measure that
// the request does not use, even if that measure is overdrawn.
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
		return quotaExceeded(ipam.Ref{Project: project.Name, Name: a.quota.Name}, m, limit, used, n).WithCause(&QuotaLack{scope: a.quota.Spec.Scope, measure: m, usage: u})
	}
	return nil
}

// provide moves spare to the transaction's own shard if that shard has too little. It moves the missing amount and half of the remaining spare.
//
// Because of this half, the next transactions on this container need not read all shards again. The other half stays for transactions on other
// containers, which use other shards. If transactions use only one shard, they read all shards log2(n) times until a spare of n is used up.
func (a *account) provide(u ipam.Usage) {
	for _, m := range Measures {
		n, mine := m.Of(u), m.Of(a.now[ownShard].Spare)
		if m.Limit(a.quota.Spec.Limits) == nil || n.Cmp(mine) <= 0 {
			continue
		}
		rest := new(big.Int).Sub(a.spare(m), n)
		want := new(big.Int).Add(n, rest.Rsh(rest, 1))
		a.fetch(m, want.Sub(want, mine))
	}
}

// fetch moves an amount n of a measure's spare from the other shards to the transaction's own. The caller has checked that the other shards have n in
// total. The fullest shards give first, so that the transaction writes few rows.
func (a *account) fetch(m measure, n *big.Int) {
	from := make([]int, 0, len(a.now))
	for i := range a.now {
		if i != ownShard && m.Of(a.now[i].Spare).Sign() > 0 {
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
		a.now[i].Spare = a.now[i].Spare.Add(m.usageOf(part).Negative())
		a.now[ownShard].Spare = a.now[ownShard].Spare.Add(m.usageOf(part))
	}
}

// count adds a usage to the transaction's own shard. It subtracts the limited measures from that shard's spare.
func (a *account) count(u ipam.Usage) {
	s := &a.now[ownShard]
	s.Used = s.Used.Add(u)
	s.Spare = s.Spare.Add(limitedOnly(u, a.quota.Spec.Limits).Negative())
}

// recover reports whether the quota was overdrawn and no longer is. If so, recover divides the spare again, because no shard may keep a negative
// spare. Then a transaction may again use its own shard without the others.
func (a *account) recover() bool {
	if !a.quota.Overdrawn || !a.complete || overdrawn(a.quota.Spec.Limits, usedOf(a.now)) {
		return false
	}
	a.now = respread(a.quota.Spec.Limits, a.now)
	return true
}

func (a *account) changes() []storage.ShardUpdate {
	var out []storage.ShardUpdate
	for i := range a.now {
		if i == ownShard && a.made != nil {
			continue // inserts returns this shard
		}
		if (i == ownShard && a.stale) || !sameUsage(a.was[i].Used, a.now[i].Used) || !sameUsage(a.was[i].Spare, a.now[i].Spare) {
			out = append(out, storage.ShardUpdate{Was: a.was[i], Now: a.now[i]})
		}
	}
	return out
}

// inserts returns the shards to insert in the transaction's own region. It returns nil if the region already has shards, or if the transaction
// counted nothing there.
func (a *account) inserts() []ipam.QuotaShard {
	if a.made == nil || sameUsage(a.was[ownShard].Used, a.now[ownShard].Used) && sameUsage(a.was[ownShard].Spare, a.now[ownShard].Spare) {
		return nil
	}
	out := slices.Clone(a.made)
	out[a.now[ownShard].Shard] = a.now[ownShard]
	return out
}

// spare returns the total of a measure's spare in all shards.
func (a *account) spare(m measure) *big.Int {
	sum := new(big.Int)
	for _, s := range a.now {
		sum.Add(sum, m.Of(s.Spare))
	}
	return sum
}
