package quota

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Ledger counts the usage that one transaction adds to, or removes from, some projects' quotas. The transaction reads the quotas, makes the ledger,
// and writes the changes that the ledger returns.
//
// A quota's figures are divided among rows, the shards. Each shard has a part of the usage and a part of the spare, which is the limit less the
// usage. While the quota is not overdrawn, no shard has a negative spare. So a transaction may use its own shard's spare without a read of the
// others. The total spare still cannot become negative.
//
// If the own spare is not enough, or the quota is overdrawn, the transaction reads all shards and decides by their sum. That read is safe, because
// the transaction is SERIALIZABLE or locks all shards exclusively.
//
// Every region has sixteen shards, and a transaction's own shard is in its own region. A transaction reads other regions' shards in two cases only:
// near the limit, and if a quota is older than the region and has no shards in it.
type Ledger struct {
	read     shardReader
	accounts map[ipam.ID][]*account // by project
	order    []*account
	// OneRequest is true if the transaction serves one request, which succeeds or fails as a whole. A refusal then reports the sum that this request
	// asks for. Otherwise, the transaction serves several requests, and a refusal reports the amounts for the earlier ones as used.
	OneRequest bool
}

// shardReader reads the other shards when the ledger needs them.
type shardReader interface {
	QuotaShards(ctx context.Context, quotas []ipam.ID) ([]ipam.QuotaShard, error)
}

// NewLedger makes a ledger from the quotas that the transaction has read. It checks quotas in name order. So a refusal names the first quota that
// fails.
func NewLedger(tx shardReader, parts []storage.QuotaPart) *Ledger {
	l := &Ledger{read: tx, accounts: map[ipam.ID][]*account{}}
	for _, p := range slices.SortedFunc(slices.Values(parts), func(a, b storage.QuotaPart) int {
		return cmp.Or(strings.Compare(a.Quota.Name, b.Quota.Name), bytes.Compare(a.Quota.UID[:], b.Quota.UID[:]))
	}) {
		a := newAccount(p)
		l.accounts[p.Quota.ProjectID] = append(l.accounts[p.Quota.ProjectID], a)
		l.order = append(l.order, a)
	}
	return l
}

// Take counts a usage that a project is about to add, or refuses it with quota_exceeded. A refusal leaves the ledger unchanged. Take reads from the
// database only if the transaction's own shards are not enough.
func (l *Ledger) Take(ctx context.Context, project storage.ProjectKey, subject ipam.QuotaSubject, u ipam.Usage) error {
	covering := l.covering(project.ID, subject)
	if err := l.readAll(ctx, covering, u); err != nil {
		return err
	}
	for _, a := range covering {
		if err := a.refusal(project, u, l.OneRequest); err != nil {
			return err
		}
	}
	for _, a := range covering {
		a.provide(u)
		a.count(u)
	}
	return nil
}

// Give counts a usage that a project releases.
func (l *Ledger) Give(project ipam.ID, subject ipam.QuotaSubject, u ipam.Usage) {
	for _, a := range l.covering(project, subject) {
		a.count(u.Negative())
	}
}

// AddTo adds the ledger's changes to the transaction's changes. If a quota is no longer overdrawn, AddTo also clears its overdrawn mark.
func (l *Ledger) AddTo(ch *storage.Changes) {
	for _, a := range l.order {
		if a.recover() {
			ch.QuotaOverdrawn = append(ch.QuotaOverdrawn, storage.QuotaMark{ProjectID: a.quota.ProjectID, Name: a.quota.Name})
		}
		ch.ShardUpdate = append(ch.ShardUpdate, a.changes()...)
		ch.ShardInsert = append(ch.ShardInsert, a.inserts()...)
	}
}

func (l *Ledger) covering(project ipam.ID, subject ipam.QuotaSubject) []*account {
	var out []*account
	for _, a := range l.accounts[project] {
		if a.quota.Spec.Scope.Covers(subject) {
			out = append(out, a)
		}
	}
	return out
}

// readAll reads all shards for each account whose own shard does not suffice. It reads a quota's shards at most once in a transaction.
func (l *Ledger) readAll(ctx context.Context, accounts []*account, u ipam.Usage) error {
	var ids []ipam.ID
	unread := map[ipam.ID]*account{}
	for _, a := range accounts {
		if !a.complete && !a.suffices(u) {
			ids = append(ids, a.quota.UID)
			unread[a.quota.UID] = a
		}
	}
	if len(ids) == 0 {
		return nil
	}
	shards, err := l.read.QuotaShards(ctx, ids)
	if err != nil {
		return err
	}
	for _, s := range shards {
		if a := unread[s.QuotaID]; a != nil {
			a.add(s)
		}
	}
	for _, a := range unread {
		a.complete = true
	}
	return nil
}

// ShardOf returns the index of the shard that transactions on a container use.
func ShardOf(container ipam.ID) int { return int(container[15]) % ipam.QuotaShards }
