package write

import (
	"cmp"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (w *Statements) quotaDelete(q ipam.Quota) {
	w.hit("quota_delete", 1, q.ProjectID, q.Name, q.Revision)
	w.unchecked("shard_delete", q.UID)
}

func (w *Statements) quotaUpdates(ch storage.QuotaChanges) {
	if u := ch.QuotaUpdate; u != nil {
		hitRow(w, "quota_update", rows.Quotas, u.Now, u.Now.ProjectID, u.Now.Name, u.WasRevision)
	}
	for _, m := range ch.QuotaOverdrawn {
		w.hit("quota_mark", 1, m.ProjectID, m.Name, m.Overdrawn)
	}
	for _, u := range sortedByKey(ch.ShardUpdate) {
		was, now := u.Was, u.Now
		w.hit("shard_update", 1, now.Region, now.QuotaID, now.Shard,
			rows.Addresses(was.Used), was.Used.Claims, was.Used.Pools, rows.Addresses(was.Spare), was.Spare.Claims, was.Spare.Pools,
			rows.Addresses(now.Used), now.Used.Claims, now.Used.Pools, rows.Addresses(now.Spare), now.Spare.Claims, now.Spare.Pools)
	}
}

// sortedByKey sorts updates by their keys. So two transactions on the same rows wait for each other and do not deadlock.
func sortedByKey(list []storage.ShardUpdate) []storage.ShardUpdate {
	return slices.SortedFunc(slices.Values(list), func(a, b storage.ShardUpdate) int {
		return cmp.Or(rows.CompareIDs(a.Now.QuotaID, b.Now.QuotaID), strings.Compare(a.Now.Region, b.Now.Region), a.Now.Shard-b.Now.Shard)
	})
}

func (w *Statements) quotaInserts(ch storage.QuotaChanges) {
	if q := ch.QuotaInsert; q != nil {
		hitRow(w, "quota_insert", rows.Quotas, *q)
	}
	for region, list := range inRegions(ch.ShardInsert, func(s ipam.QuotaShard) string { return s.Region }) {
		hitRows(w, "shard_insert", rows.Shards, list, region)
	}
}
