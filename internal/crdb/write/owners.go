package write

import (
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// owners checks that the projects and classes of the new claims still exist. If one does not, its claims are conflicts. One query checks all claims
// of a transaction. A foreign key would cost a query for each claim. owners also reads the regions of the projects.
func (w *Statements) owners(list []ipam.Claim) {
	w.placed(list)
	class := func(c *ipam.Claim) ipam.ID {
		if c.Spec.AllocationRef != "" { // a retained block keeps its class, even if the class is deleted
			return ipam.ID{}
		}
		return c.Class.ID
	}
	classes := idsOf(list, class)
	if len(classes) == 0 {
		return
	}
	w.batch.Queue(query.Get("classes_there"), rows.IDs(classes))
	w.checks = append(w.checks, func(results pgx.BatchResults, c *storage.Conflict) error {
		found, err := lookup.Rest(results, lookup.ScanID)
		if err == nil {
			c.ClaimRefs = append(c.ClaimRefs, missingIDs(list, class, func(id ipam.ID) bool { return slices.Contains(found, id) })...)
		}
		return err
	})
}

// idsOf returns the distinct ids that of selects from the new claims.
func idsOf(list []ipam.Claim, of func(*ipam.Claim) ipam.ID) (ids []ipam.ID) {
	for i := range list {
		if id := of(&list[i]); !id.IsZero() && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// missingIDs returns the new claims for which the id that of selects does not exist.
func missingIDs(list []ipam.Claim, of func(*ipam.Claim) ipam.ID, there func(ipam.ID) bool) (refs []storage.NameRef) {
	for i := range list {
		if id := of(&list[i]); !id.IsZero() && !there(id) {
			refs = append(refs, claimRef(list[i]))
		}
	}
	return refs
}
