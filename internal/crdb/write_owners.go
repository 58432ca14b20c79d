package crdb

import (
	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// owners checks that the projects of new claims, and the classes that they are made by, are still there; claims of those that are not are
// conflicts. It is one look for all claims of a transaction, where a foreign key would be one for each. It also answers where the names of those projects are.
func (w *writer) owners(list []ipam.Claim) {
	projects, classes := map[ipam.ID][]storage.NameRef{}, map[ipam.ID][]storage.NameRef{}
	for _, c := range list {
		ref := storage.NameRef{ProjectID: c.ProjectID, Name: c.Name}
		projects[c.ProjectID] = append(projects[c.ProjectID], ref)
		if !c.Class.ID.IsZero() && c.Spec.AllocationRef == "" { // a retained block keeps its class, even one that is gone
			classes[c.Class.ID] = append(classes[c.Class.ID], ref)
		}
	}
	w.placed(list, projects)
	w.there("classes_there", classes)
}

// there queues a look for ids; what was to be made under one that is missing is a conflict.
func (w *writer) there(name string, made map[ipam.ID][]storage.NameRef) {
	if len(made) == 0 {
		return
	}
	ids := make([]ipam.ID, 0, len(made))
	for id := range made {
		ids = append(ids, id)
	}
	w.batch.Queue(query.Get(name), rows.IDs(ids))
	w.checks = append(w.checks, func(results pgx.BatchResults, c *storage.Conflict) error {
		found, err := rest(results, scanID)
		if err != nil {
			return err
		}
		there := make(map[ipam.ID]bool, len(found))
		for _, id := range found {
			there[id] = true
		}
		for id, refs := range made {
			if !there[id] {
				c.ClaimRefs = append(c.ClaimRefs, refs...)
			}
		}
		return nil
	})
}
