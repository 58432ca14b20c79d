package write

import (
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/ipam"
)

// checkOwners checks that the new claims' projects and classes still exist. If a project or class does not exist, its claims are conflicts. One query
// checks all claims. A foreign key would cost a query for each claim. checkOwners also reads the projects' regions.
func (w *Statements) checkOwners(list []ipam.Claim) {
	w.readRegions(list)
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
	w.queue("classes_there", func(results pgx.BatchResults, c *storage.Conflict) error {
		found, err := lookup.ReadRows(results, pgx.RowTo[ipam.ID])
		if err == nil {
			c.ClaimRefs = append(c.ClaimRefs, missingIDs(list, class, func(id ipam.ID) bool { return slices.Contains(found, id) })...)
		}
		return err
	}, classes)
}

// idsOf calls idOf for each new claim, and returns the distinct nonzero ids.
func idsOf(list []ipam.Claim, idOf func(*ipam.Claim) ipam.ID) (ids []ipam.ID) {
	for i := range list {
		if id := idOf(&list[i]); !id.IsZero() && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// missingIDs calls idOf for each new claim, and returns the claims whose nonzero id does not exist.
func missingIDs(list []ipam.Claim, idOf func(*ipam.Claim) ipam.ID, there func(ipam.ID) bool) (refs []storage.NameRef) {
	for i := range list {
		if id := idOf(&list[i]); !id.IsZero() && !there(id) {
			refs = append(refs, claimRef(list[i]))
		}
	}
	return refs
}
