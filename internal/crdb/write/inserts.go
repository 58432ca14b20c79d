package write

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// queueInserts queues all inserts. They run last. A row is inserted before the rows that refer to it.
func (w *Statements) queueInserts(ch storage.Changes) {
	if p := ch.ProjectInsert; p != nil {
		hitRow(w, "project_insert", rows.Projects, *p)
		w.unchecked("grant_delete_to", p.Name) // an older grant to a project with this name was not meant for the new project
		if !w.several {                        // the only region for its claims; if there are several, the first claim in each region records the region in its own transaction
			w.hit("project_region_insert", 1, p.UID, w.region)
		}
	}
	for _, s := range ch.SpaceInsert {
		hitRow(w, "space_insert", rows.Spaces, s)
	}
	w.classInserts(ch.ClassChanges)
	for _, p := range ch.PoolInsert {
		hitRow(w, "pool_insert", rows.Pools, p) // inserts no row if another transaction has created the scope's pool since
		w.insertPoolClasses(p)
	}
	w.regionInserts(ch.RegionChanges)
	w.freeBlocks("free_insert", ch.Free, func(f storage.FreeChange) []netip.Prefix { return f.Insert })
	w.insertClaims(ch)
	for region, list := range byRegion(ch.AllocationInsert) {
		hitRows(w, "hold_insert", rows.Allocations, list, region)
	}
	w.accessInserts(ch.AccessChanges)
	w.quotaInserts(ch.QuotaChanges)
	if len(ch.Events) > 0 {
		hitRows(w, "event_insert", rows.Events, rows.PackEvents(ch.Events), w.region)
	}
	if len(ch.History) > 0 {
		hitRows(w, "history_insert", rows.Holds, ch.History, w.region)
	}
}

// insertClaims inserts claims in name order, and insertStoredResponses inserts stored responses in key order. So transactions with the same names or
// keys do not deadlock.
func (w *Statements) insertClaims(ch storage.Changes) {
	if u := ch.ClaimRebind; u != nil {
		w.checkOwners([]ipam.Claim{u.Now})
		w.claimUpdate(*u)
		w.newNames(u.Now.Region, []*ipam.Claim{&u.Now})
	}
	if !w.checked { // if checked is true, the versions prove that the owners exist
		w.checkOwners(ch.ClaimInsert)
	}
	for region, part := range claimsByRegion(ch.ClaimInsert) {
		list := make([]*ipam.Claim, len(part))
		for i := range part {
			list[i] = &part[i]
		}
		slices.SortFunc(list, func(a, b *ipam.Claim) int {
			return cmp.Or(rows.CompareIDs(a.ProjectID, b.ProjectID), strings.Compare(a.Name, b.Name))
		})
		hitRows(w, "hold_insert", rows.NewClaims, list, region)
		w.newNames(region, list)
	}
}

func (w *Statements) insertStoredResponses(list []storage.StoredResponse) {
	if len(list) == 0 {
		return
	}
	list = slices.SortedFunc(slices.Values(list), func(a, b storage.StoredResponse) int {
		return cmp.Or(rows.CompareIDs(a.ProjectID, b.ProjectID), strings.Compare(a.Key, b.Key))
	})
	hitRows(w, "answer_insert", rows.StoredResponses, list, w.region)
	run := w.checks[len(w.checks)-1]
	w.checks[len(w.checks)-1] = func(results pgx.BatchResults, conflict *storage.Conflict) error {
		err := run(results, conflict)
		if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == UniqueViolation && pg.ConstraintName == "idempotency_keys_pkey" {
			return &KeysTaken{StoredResponses: list, cause: pg}
		}
		return err
	}
}
