package write

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (w *Statements) quotaDelete(q ipam.Quota) {
	w.hit("quota_delete", 1, rows.ID(q.ProjectID), q.Name, rows.ID(q.Revision))
	w.any("shard_delete", rows.ID(q.UID))
}

func (w *Statements) quotaUpdates(ch storage.QuotaChanges) {
	if u := ch.QuotaUpdate; u != nil {
		hitRow(w, "quota_update", rows.Quotas, u.Now, rows.ID(u.Now.ProjectID), u.Now.Name, rows.ID(u.WasRevision))
	}
	for _, m := range ch.QuotaOverdrawn {
		w.hit("quota_mark", 1, rows.ID(m.ProjectID), m.Name, m.Overdrawn)
	}
	for _, u := range sortedByKey(ch.ShardUpdate) {
		was, now := u.Was, u.Now
		w.hit("shard_update", 1, now.Region, rows.ID(now.QuotaID), now.Shard,
			rows.Addresses(was.Used), was.Used.Claims, was.Used.Pools, rows.Addresses(was.Spare), was.Spare.Claims, was.Spare.Pools,
			rows.Addresses(now.Used), now.Used.Claims, now.Used.Pools, rows.Addresses(now.Spare), now.Spare.Claims, now.Spare.Pools)
	}
}

// sortedByKey sorts updates by their keys. So two transactions on the same rows wait for each other and do not deadlock.
func sortedByKey(list []storage.ShardUpdate) []storage.ShardUpdate {
	return slices.SortedFunc(slices.Values(list), func(a, b storage.ShardUpdate) int {
		return cmp.Or(bytes.Compare(a.Now.QuotaID[:], b.Now.QuotaID[:]), strings.Compare(a.Now.Region, b.Now.Region), a.Now.Shard-b.Now.Shard)
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
