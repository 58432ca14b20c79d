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

// Ledger counts the usage that one transaction takes from, and returns to, its projects' quotas. The transaction makes it from the quotas that it has
// read, and writes its changes.
//
// Shards divide a quota's figures. While the quota is not overdrawn, no shard has a negative spare, so a transaction may take its own shard's spare
// without reading the others: the sum over all spares is the limit less the usage, and never becomes negative either. If that spare is not enough, or
// the quota is overdrawn, the transaction reads all shards and decides by the sum. It is SERIALIZABLE, or holds all shards alone.
//
// Every region has sixteen shards, and a transaction's own shard is in its own region. It reads other regions' shards only near the limit, and for a
// quota that is older than the region and has no shards there.
type Ledger struct {
	read     shardReader
	accounts map[ipam.ID][]*account // by project
	order    []*account
	// OneRequest is true if the transaction is one request, which succeeds or fails as a whole, so that a refusal reports the request's sum.
	// Otherwise amounts taken earlier belong to other requests, and count as used.
	OneRequest bool
}

// shardReader reads the other shards when the ledger needs them.
type shardReader interface {
	QuotaShards(ctx context.Context, quotas []ipam.ID) ([]ipam.QuotaShard, error)
}

// NewLedger makes a ledger from the quotas that the transaction has read. It checks them by name, so a refusal names the first one that fails.
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

// Take counts a usage that a project is about to add, or refuses it with quota_exceeded; a refusal leaves the ledger unchanged. It reads only if the
// transaction's own shards are not enough.
func (l *Ledger) Take(ctx context.Context, project storage.ProjectKey, at ipam.HoldPlace, u ipam.Usage) error {
	covering := l.covering(project.ID, at)
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
func (l *Ledger) Give(project ipam.ID, at ipam.HoldPlace, u ipam.Usage) {
	for _, a := range l.covering(project, at) {
		a.count(u.Negative())
	}
}

// Into adds the ledger's changes to the transaction's changes. It also clears the mark on a quota that is no longer overdrawn.
func (l *Ledger) Into(ch *storage.Changes) {
	for _, a := range l.order {
		if a.recover() {
			ch.QuotaOverdrawn = append(ch.QuotaOverdrawn, storage.QuotaMark{ProjectID: a.quota.ProjectID, Name: a.quota.Name})
		}
		ch.ShardUpdate = append(ch.ShardUpdate, a.changes()...)
		ch.ShardInsert = append(ch.ShardInsert, a.inserts()...)
	}
}

func (l *Ledger) covering(project ipam.ID, at ipam.HoldPlace) []*account {
	var out []*account
	for _, a := range l.accounts[project] {
		if a.quota.Spec.Scope.Covers(at) {
			out = append(out, a)
		}
	}
	return out
}

// readAll reads all shards for each account if its own shard is not enough: once for each quota and transaction.
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

// ShardOf returns the shard index for transactions on a container.
func ShardOf(container ipam.ID) int { return int(container[15]) % ipam.QuotaShards }
