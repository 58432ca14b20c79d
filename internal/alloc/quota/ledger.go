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

// Ledger is what one transaction takes from, and gives back to, the quotas of the projects in it. It is made in the
// transaction, from what that has read, and its changes are written by it.
//
// The figures of a quota are divided into shards. While the quota is not overdrawn, no shard's spare is negative, so that a
// transaction may take what its own shard has to spare and look no further: the spare of all of them, added up, is the limit less
// what is used, and so never becomes negative either. When that is not enough, or the quota is overdrawn, the transaction reads all shards and
// decides by the sum: it is SERIALIZABLE, or alone with all shards.
//
// Every region has sixteen shards of its own, and the transaction's own is of its own region: only near the limit, and for a quota that is
// older than the region and has no shards there, are the other regions' read.
type Ledger struct {
	read     shardReader
	accounts map[ipam.ID][]*account // by project
	order    []*account
	// OneRequest: the transaction is one request, all of which is refused together, so that a refusal speaks of all that was asked for.
	// Otherwise what was taken before belongs to others, and counts as used.
	OneRequest bool
}

// shardReader is what the ledger reads by itself.
type shardReader interface {
	QuotaShards(ctx context.Context, quotas []ipam.ID) ([]ipam.QuotaShard, error)
}

// NewLedger makes a ledger from what the transaction has read. The order of its quotas, and so which of several is named in a
// refusal, is that of their names.
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

// Take counts what a project is about to hold somewhere, or refuses with quota_exceeded; a refusal leaves
// the ledger as it was. It reads only when the transaction's own shards are not enough.
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

// Give counts what a project gives back.
func (l *Ledger) Give(project ipam.ID, at ipam.HoldPlace, u ipam.Usage) {
	for _, a := range l.covering(project, at) {
		a.count(u.Negative())
	}
}

// Into adds the ledger's changes to what the transaction writes. A quota that is found not to be overdrawn any more is
// marked so.
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

// readAll reads all shards of those accounts that cannot decide by their own: once for each quota and transaction.
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

// ShardOf is the shard that transactions on a container use.
func ShardOf(container ipam.ID) int { return int(container[15]) % ipam.QuotaShards }
