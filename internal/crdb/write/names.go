package write

import (
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Naming is what is found out about the names of a transaction's new claims. That a name is unique in its own region is its key's to say; in
// the other regions where the project may have claims it is looked for, unless it was generated: generated names carry a letter of their region.
type Naming struct {
	claims  []ipam.Claim
	regions map[ipam.ID][]string // by project
}

// placed queues the look for the projects of new claims, and for the regions in which those may have claims; claims of projects that are gone
// are conflicts.
func (w *Statements) placed(claims []ipam.Claim, made map[ipam.ID][]storage.NameRef) {
	if len(made) == 0 {
		return
	}
	w.naming = &Naming{claims: claims, regions: make(map[ipam.ID][]string, len(made))}
	ids := make([]ipam.ID, 0, len(made))
	for id := range made {
		ids = append(ids, id)
	}
	w.batch.Queue(query.Get("projects_placed"), rows.IDs(ids))
	w.checks = append(w.checks, func(results pgx.BatchResults, c *storage.Conflict) error {
		answer, err := results.Query()
		if err != nil {
			return err
		}
		var id ipam.ID
		var region *string
		if _, err = pgx.ForEachRow(answer, []any{(*[16]byte)(&id), &region}, func() error {
			known := w.naming.regions[id]
			if region != nil {
				known = append(known, *region)
			}
			w.naming.regions[id] = known
			return nil
		}); err != nil {
			return err
		}
		for id, refs := range made {
			if _, there := w.naming.regions[id]; !there {
				c.ClaimRefs = append(c.ClaimRefs, refs...)
			}
		}
		return nil
	})
}

// First is a claim that would be the first of its project in its region.
func (n *Naming) First() (project ipam.ID, region string, is bool) {
	for _, c := range n.claims {
		if !slices.Contains(n.regions[c.ProjectID], c.Region) {
			return c.ProjectID, c.Region, true
		}
	}
	return project, "", false
}

// Regions are those in which the projects of the claims may have claims.
func (n *Naming) Regions() (all []string) {
	for _, regions := range n.regions {
		all = append(all, regions...)
	}
	return all
}

// Elsewhere is the claims whose names are to be looked for in other regions. A generated name is not, where it was stored in the region whose
// letter it carries.
func (n *Naming) Elsewhere(own string) (ask []ipam.Claim) {
	for _, c := range n.claims {
		if c.GeneratedIn != 0 && c.Region == own {
			continue
		}
		regions := n.regions[c.ProjectID]
		if len(regions) > 1 || len(regions) == 1 && regions[0] != c.Region {
			ask = append(ask, c)
		}
	}
	return ask
}

// Naming is what was found out about the names of the new claims; nil: there are none.
func (w *Statements) Naming() *Naming { return w.naming }
