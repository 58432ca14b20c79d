package quota

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// book stores quotas and their shards in place of a database, for one transaction at a time. A flaw disables one protection in the book or in the
// ledger's changes. A test with a flaw must fail, which proves that the checks detect it.
type book struct {
	quotas []*ipam.Quota
	shards map[ipam.ID][]ipam.QuotaShard
	reads  int // reads of all shards
	flaw   string
}

// The flaws. Each flaw disables one protection.
const (
	marksUnseen    = "MarksAreNotSeen"         // hides from the transaction that a quota is overdrawn
	movesForgotten = "MovesAreForgotten"       // does not subtract from the other shards the spare that it takes from them
	spareKept      = "GivingBackSparesNothing" // does not make released usage available again
	negativesLeft  = "LacksAreLeftBehind"      // clears the overdrawn mark, although shards still have a negative spare
)

func newBook(quotas ...ipam.Quota) *book {
	b := &book{shards: map[ipam.ID][]ipam.QuotaShard{}}
	for _, q := range quotas {
		b.quotas = append(b.quotas, &q)
		b.shards[q.UID] = newShards(q.UID, q.Spec.Limits, ipam.Usage{}, []string{"a"})
	}
	return b
}

// QuotaShards implements shardReader.
func (b *book) QuotaShards(_ context.Context, ids []ipam.ID) ([]ipam.QuotaShard, error) {
	b.reads++
	var out []ipam.QuotaShard
	for _, id := range ids {
		out = append(out, b.shards[id]...)
	}
	return out, nil
}

// find returns the index of a shard, or -1 if the shard does not exist.
func (b *book) find(s ipam.QuotaShard) int {
	return slices.IndexFunc(b.shards[s.QuotaID], func(have ipam.QuotaShard) bool { return have.Region == s.Region && have.Shard == s.Shard })
}

// parts returns the quotas that a transaction in a region reads. The quotas are older than every region except "a", so they have no shards in the
// other regions yet.
func (b *book) parts(region string, shard int) []storage.QuotaPart {
	var out []storage.QuotaPart
	for _, q := range b.quotas {
		part := storage.QuotaPart{Quota: *q, Shard: ipam.QuotaShard{Region: region, QuotaID: q.UID, Shard: shard}}
		if at := b.find(part.Shard); at >= 0 {
			part.Shard = b.shards[q.UID][at]
		} else {
			part.Missing = true
		}
		part.Quota.Overdrawn = q.Overdrawn && b.flaw != marksUnseen
		out = append(out, part)
	}
	return out
}

// write applies a ledger's changes as the database does. Each update expects the figures that the transaction has read.
func (b *book) write(t *testing.T, ch storage.Changes) {
	t.Helper()
	for _, s := range ch.ShardInsert {
		require.Negative(t, b.find(s), "the insert names what is not there")
		b.shards[s.QuotaID] = append(b.shards[s.QuotaID], s)
	}
	for _, u := range ch.ShardUpdate {
		at := b.find(u.Was)
		require.GreaterOrEqual(t, at, 0, "the update names what is there")
		have := &b.shards[u.Was.QuotaID][at]
		require.True(t, sameUsage(have.Used, u.Was.Used) && sameUsage(have.Spare, u.Was.Spare), "the update names what is there")
		require.Equal(t, u.Was.Shard, u.Now.Shard)
		if b.flaw == movesForgotten && sameUsage(u.Was.Used, u.Now.Used) {
			continue
		}
		if b.flaw == spareKept && u.Now.Used.Claims < u.Was.Used.Claims {
			u.Now.Spare = u.Was.Spare
		}
		if b.flaw == negativesLeft && len(ch.QuotaOverdrawn) > 0 && sameUsage(u.Was.Used, u.Now.Used) {
			continue
		}
		*have = u.Now
	}
	for _, m := range ch.QuotaOverdrawn {
		for _, q := range b.quotas {
			if q.Name == m.Name && q.ProjectID == m.ProjectID {
				q.Overdrawn = m.Overdrawn
			}
		}
	}
}

// limit replaces a quota's limits, like PUT.
func (b *book) limit(q *ipam.Quota, limits ipam.QuotaLimits) {
	q.Spec.Limits = limits
	q.Overdrawn = overdrawn(limits, usedOf(b.shards[q.UID]))
	b.shards[q.UID] = respread(limits, b.shards[q.UID])
}

// check compares the usage in the book with the held pieces, and returns an error for a difference.
func (b *book) check(held func(ipam.QuotaScope) ipam.Usage) error {
	for _, q := range b.quotas {
		used, spare := usedOf(b.shards[q.UID]), ipam.Usage{}
		for _, s := range b.shards[q.UID] {
			spare = spare.Add(s.Spare)
		}
		if !sameUsage(used, held(q.Spec.Scope)) {
			return fmt.Errorf("%s: what is used is not what is held", q.Name)
		}
		for _, m := range Measures {
			limit, left := m.Limit(q.Spec.Limits), m.Of(spare)
			if limit == nil {
				if left.Sign() != 0 {
					return fmt.Errorf("%s: spare %s that nothing bounds", q.Name, m)
				}
				continue
			}
			if new(big.Int).Add(left, m.Of(used)).Cmp(limit) != 0 {
				return fmt.Errorf("%s: spare and used %s do not add up to the limit", q.Name, m)
			}
			if left.Sign() < 0 && !q.Overdrawn {
				return fmt.Errorf("%s: more %s than the limit, unmarked", q.Name, m)
			}
			if n := len(b.shards[q.UID]); n%ipam.QuotaShards != 0 {
				return fmt.Errorf("%s: %d shards", q.Name, n)
			}
			for _, s := range b.shards[q.UID] {
				if !q.Overdrawn && m.Of(s.Spare).Sign() < 0 {
					return fmt.Errorf("%s: shard %d is below zero, unmarked", q.Name, s.Shard)
				}
			}
		}
	}
	return nil
}

// piece is one held item.
type piece struct {
	at    ipam.QuotaSubject
	usage ipam.Usage
}

// randomTransactions runs random transactions that take and give back usage, and changes limits at random. It compares the ledger with a plain list
// of held pieces, and returns the first difference.
func randomTransactions(t *testing.T, seed uint64, flaw string) error {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 1))
	project := storage.ProjectKey{ID: ipam.NewID(), Name: "acme"}
	pools := []ipam.Ref{{Project: "acme", Name: "a"}, {Project: "acme", Name: "b"}, {Project: "other", Name: "c"}, {}}
	classes := []ipam.Ref{{Project: "platform", Name: "std"}, {Project: "acme", Name: "std"}, {}}
	families := []ipam.Family{ipam.IPv4, ipam.IPv6}
	limits := func() ipam.QuotaLimits {
		var l ipam.QuotaLimits
		if rnd.IntN(3) > 0 {
			l.Addresses = new(big.Int).Lsh(big.NewInt(rnd.Int64N(40)), uint(rnd.IntN(3)*40))
		}
		if l.Addresses == nil || rnd.IntN(3) > 0 {
			l.Claims = new(rnd.Int64N(60))
		}
		if rnd.IntN(2) > 0 {
			l.Pools = new(rnd.Int64N(10))
		}
		return l
	}
	quota := func(name string, scope ipam.QuotaScope) ipam.Quota {
		return ipam.Quota{
			Metadata: ipam.Metadata{Name: name, UID: ipam.NewID()}, ProjectID: project.ID,
			Spec: ipam.QuotaSpec{Scope: scope, Limits: limits()},
		}
	}
	b := newBook(quota("all", ipam.QuotaScope{}), quota("one-pool", ipam.QuotaScope{Pool: pools[0]}), quota("six", ipam.QuotaScope{Family: ipam.IPv6}),
		quota("one-class", ipam.QuotaScope{Class: classes[0]}), quota("narrow", ipam.QuotaScope{Pool: pools[0], Class: classes[0], Family: ipam.IPv4}))
	b.flaw = flaw
	var held []piece
	sum := func(scope ipam.QuotaScope) ipam.Usage {
		total := ipam.Usage{}
		for _, p := range held {
			if scope.Covers(p.at) {
				total = total.Add(p.usage)
			}
		}
		return total
	}
	allowed := func(p piece) bool {
		for _, q := range b.quotas {
			after := sum(q.Spec.Scope).Add(p.usage)
			for _, m := range Measures {
				if l := m.Limit(q.Spec.Limits); l != nil && q.Spec.Scope.Covers(p.at) && m.Of(p.usage).Sign() > 0 && m.Of(after).Cmp(l) > 0 {
					return false
				}
			}
		}
		return true
	}
	for range 150 {
		if rnd.IntN(12) == 0 {
			for _, q := range b.quotas {
				b.limit(q, limits())
			}
		}
		l := NewLedger(b, b.parts([]string{"a", "b", "c"}[rnd.IntN(3)], rnd.IntN(ipam.QuotaShards)))
		for range 1 + rnd.IntN(6) {
			if n := len(held); n > 0 && rnd.IntN(5) < 2 {
				i := rnd.IntN(n)
				l.Give(project.ID, held[i].at, held[i].usage)
				held[i] = held[n-1]
				held = held[:n-1]
				continue
			}
			p := piece{at: ipam.QuotaSubject{Pool: pools[rnd.IntN(len(pools))], Class: classes[rnd.IntN(len(classes))], Family: families[rnd.IntN(2)]}}
			if p.at.Pool == (ipam.Ref{}) || rnd.IntN(6) == 0 {
				p.usage = ipam.Usage{Pools: 1}
			} else {
				p.usage = ipam.Usage{Claims: 1, Addresses: new(big.Int).Lsh(big.NewInt(1), uint(rnd.IntN(3)*40))}
			}
			may := allowed(p)
			err := l.Take(t.Context(), project, p.at, p.usage)
			if (err == nil) != may {
				return fmt.Errorf("allowed: %t; answered: %w", may, err)
			}
			if err == nil {
				held = append(held, p)
			} else if !ipam.IsCode(err, ipam.CodeQuotaExceeded) {
				return err
			}
		}
		var ch storage.Changes
		l.AddTo(&ch)
		b.write(t, ch)
		if err := b.check(sum); err != nil {
			return err
		}
	}
	return nil
}

func TestLedgerKeepsItsFiguresAndNeverExceedsALimit(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		require.NoError(t, randomTransactions(t, seed, ""), "seed %d", seed)
	}
}

// The checks above must detect each flaw. Otherwise they would prove nothing.
func TestRandomTransactionsDetectLedgerFlaws(t *testing.T) {
	t.Parallel()
	for _, flaw := range []string{marksUnseen, movesForgotten, spareKept, negativesLeft} {
		t.Run(flaw, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(60) {
				if randomTransactions(t, seed, flaw) != nil {
					return
				}
			}
			t.Fatal("nothing was noticed")
		})
	}
}

// All transactions use one shard until the limit. Each read of all shards moves half of the rest to this shard, so few such reads occur.
func TestSingleBusyShardSeldomReadsTheOthers(t *testing.T) {
	t.Parallel()
	const limit = 4096
	project := storage.ProjectKey{ID: ipam.NewID(), Name: "acme"}
	q := ipam.Quota{Metadata: ipam.Metadata{Name: "all", UID: ipam.NewID()}, ProjectID: project.ID, Spec: ipam.QuotaSpec{Limits: ipam.QuotaLimits{Claims: new(int64(limit))}}}
	b := newBook(q)
	at := ipam.QuotaSubject{Pool: ipam.Ref{Project: "acme", Name: "a"}, Family: ipam.IPv4}
	for range limit {
		l := NewLedger(b, b.parts("a", 3))
		require.NoError(t, l.Take(t.Context(), project, at, ipam.Usage{Claims: 1}))
		var ch storage.Changes
		l.AddTo(&ch)
		b.write(t, ch)
	}
	require.Positive(t, b.reads)
	require.LessOrEqual(t, b.reads, 13, "about log2 of the limit")
	l := NewLedger(b, b.parts("a", 3))
	for range 3 {
		require.Error(t, l.Take(t.Context(), project, at, ipam.Usage{Claims: 1}))
	}
	require.LessOrEqual(t, b.reads, 14, "a transaction reads them once")
}

func TestQuotaRefusalNamesARequestThatFits(t *testing.T) {
	t.Parallel()
	project := storage.ProjectKey{ID: ipam.NewID(), Name: "acme"}
	at := ipam.QuotaSubject{Pool: ipam.Ref{Project: "acme", Name: "a"}, Family: ipam.IPv4}
	for _, c := range []struct {
		name        string
		limit, held int64
		ask         int64
		whole       bool
		want        []string // limit, used, requested
		says        string
	}{
		{"SomeLeft", 10, 7, 4, false, []string{"10", "7", "4"}, "Quota acme/all allows 10 claims: 7 in use, 4 requested. Ask for 3 claims at most, release something first, or ask for a higher limit."},
		{"NoneLeft", 1, 1, 1, false, []string{"1", "1", "1"}, "Quota acme/all allows 1 claim: 1 in use, 1 requested. Release something first, or ask for a higher limit."},
		{"OneRequestAsksForAllOfIt", 10, 7, 4, true, []string{"10", "0", "11"}, "Ask for 10 claims"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			q := ipam.Quota{Metadata: ipam.Metadata{Name: "all", UID: ipam.NewID()}, ProjectID: project.ID, Spec: ipam.QuotaSpec{Limits: ipam.QuotaLimits{Claims: &c.limit}}}
			b := newBook(q)
			l := NewLedger(b, b.parts("a", 0))
			l.OneRequest = c.whole
			require.NoError(t, l.Take(t.Context(), project, at, ipam.Usage{Claims: c.held}))
			err := l.Take(t.Context(), project, at, ipam.Usage{Claims: c.ask})
			var e *ipam.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, ipam.CodeQuotaExceeded, e.Code)
			require.Equal(t, []string{"acme/all", "claims"}, []string{e.Figures.Quota, e.Figures.Measure})
			require.Equal(t, c.want, []string{e.Figures.Limit, e.Figures.Used, e.Figures.Requested})
			require.Contains(t, e.Message, c.says)
			var ch storage.Changes
			l.AddTo(&ch)
			b.write(t, ch)
			require.NoError(t, b.check(func(ipam.QuotaScope) ipam.Usage { return ipam.Usage{Claims: c.held} }), "a refusal takes nothing")
		})
	}
}

func TestQuotaRefusesOnlyRequestedFigures(t *testing.T) {
	t.Parallel()
	project := storage.ProjectKey{ID: ipam.NewID(), Name: "acme"}
	q := ipam.Quota{Metadata: ipam.Metadata{Name: "all", UID: ipam.NewID()}, ProjectID: project.ID, Spec: ipam.QuotaSpec{Limits: ipam.QuotaLimits{Claims: new(int64(5)), Pools: new(int64(1))}}}
	b := newBook(q)
	at := ipam.QuotaSubject{Pool: ipam.Ref{Project: "acme", Name: "a"}, Family: ipam.IPv4}
	l := NewLedger(b, b.parts("a", 0))
	require.NoError(t, l.Take(t.Context(), project, at, ipam.Usage{Claims: 5}))
	var ch storage.Changes
	l.AddTo(&ch)
	b.write(t, ch)
	b.limit(b.quotas[0], ipam.QuotaLimits{Claims: new(int64(2)), Pools: new(int64(1))})
	l = NewLedger(b, b.parts("a", 0))
	require.NoError(t, l.Take(t.Context(), project, at, ipam.Usage{Pools: 1}), "too many claims are no reason to refuse a pool")
	require.Error(t, l.Take(t.Context(), project, at, ipam.Usage{Claims: 1}))
}

// A transaction first reads its own shard, and later reads all shards. In between, another transaction may move spare to the own shard. The sum must
// use the own shard's state from the second read. Otherwise, the moved spare is missing in the sum.
func TestShardReadsUseOneSnapshot(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]int64{"NothingTakenBefore": 0, "OneTakenBefore": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := 1 + before
			q := ipam.Quota{Metadata: ipam.Metadata{Name: "q", UID: ipam.NewID()}, ProjectID: ipam.NewID(), Spec: ipam.QuotaSpec{Limits: ipam.QuotaLimits{Claims: &limit}}}
			b := newBook(q)
			take := func(l *Ledger) error {
				return l.Take(t.Context(), storage.ProjectKey{ID: q.ProjectID, Name: "p"}, ipam.QuotaSubject{Family: ipam.IPv4}, ipam.Usage{Claims: 1})
			}
			shards := b.shards[q.UID]
			for i := range shards {
				shards[i].Spare.Claims = 0
			}
			shards[0].Spare.Claims, shards[3].Spare.Claims = 1, before
			l := NewLedger(b, b.parts("a", 3))
			for range before {
				require.NoError(t, take(l))
			}
			shards[0].Spare.Claims, shards[3].Spare.Claims = 0, limit
			require.NoError(t, take(l), "there is one left")
			var ch storage.Changes
			l.AddTo(&ch)
			require.Len(t, ch.ShardUpdate, 1)
			if before == 0 {
				require.Equal(t, int64(1), ch.ShardUpdate[0].Was.Spare.Claims, "as it is now")
				require.Equal(t, int64(0), ch.ShardUpdate[0].Now.Spare.Claims)
				return
			}
			require.Equal(t, before, ch.ShardUpdate[0].Was.Spare.Claims, "what was read at first: it is not written over")
			require.Error(t, take(l), "and now there is none")
		})
	}
}
