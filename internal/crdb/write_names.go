package crdb

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// naming is what is found out about the names of a transaction's new claims. That a name is unique in its own region is its key's to say; in
// the other regions where the project may have claims it is looked for, unless it was generated: generated names carry a letter of their region.
type naming struct {
	claims  []ipam.Claim
	regions map[ipam.ID][]string // by project
}

// placed queues the look for the projects of new claims, and for the regions in which those may have claims; claims of projects that are gone
// are conflicts.
func (w *writer) placed(claims []ipam.Claim, made map[ipam.ID][]storage.NameRef) {
	if len(made) == 0 {
		return
	}
	w.naming = &naming{claims: claims, regions: make(map[ipam.ID][]string, len(made))}
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

// first is a claim that would be the first of its project in its region; nil: there is none.
func (n *naming) first() *unplaced {
	for _, c := range n.claims {
		if !slices.Contains(n.regions[c.ProjectID], c.Region) {
			return &unplaced{project: c.ProjectID, region: c.Region}
		}
	}
	return nil
}

// elsewhere is the claims whose names are to be looked for in other regions. A generated name is not, where it was stored in the region whose
// letter it carries.
func (n *naming) elsewhere(own string) (ask []ipam.Claim) {
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

// settleNames follows the rows of new claims, in the same transaction: nothing to do for a project that works in one region. On PostgreSQL
// it is alone with each name that it looks for, so that of two transactions in two regions the second one sees what the first has made.
func (t *tx) settleNames(ctx context.Context, n *naming) error {
	if n == nil {
		return nil
	}
	for _, regions := range n.regions {
		for _, region := range regions {
			t.places.met(region)
		}
	}
	if u := n.first(); u != nil && !t.dry {
		return u
	}
	ask := n.elsewhere(t.region)
	if len(ask) == 0 {
		return nil
	}
	regions, projects, names := make([]string, len(ask)), make([][16]byte, len(ask)), make([]string, len(ask))
	for i, c := range ask {
		regions[i], projects[i], names[i] = c.Region, rows.ID(c.ProjectID), c.Name
		t.conn.lock(ipam.DerivedID(c.ProjectID, "claim "+c.Name))
	}
	b := &pgx.Batch{}
	b.Queue(query.Get("claims_named_elsewhere"), regions, projects, names)
	results := t.conn.SendBatch(ctx, b)
	var conflict storage.Conflict
	used, err := rest(results, scanRef)
	if err := errors.Join(err, results.Close()); err != nil {
		return err
	}
	if conflict.ClaimRefs = used; conflict.Found() {
		return &conflict
	}
	return nil
}

func scanRef(row pgx.CollectableRow) (ref storage.NameRef, err error) {
	err = row.Scan((*[16]byte)(&ref.ProjectID), &ref.Name)
	return ref, err
}
