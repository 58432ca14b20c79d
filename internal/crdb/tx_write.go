package crdb

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/crdb/write"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Write implements storage.Tx: every statement in one round trip, each with the check that it hit what it names; and one more for names that have to be
// looked for in other regions. A batch of 1,000 goes out whole as well: to make it takes a twentieth of its time, and in parts, each made while the database
// worked on the one before, it took no less.
func (t *tx) Write(ctx context.Context, ch storage.Changes) error {
	if missing := write.FencesMissing(ch, t.fences); len(missing) > 0 { // what begins to cool down when it is no more retained: nothing free was read
		if err := t.fences.Read(ctx, t.conn, missing); err != nil {
			return err
		}
	}
	statements, err := write.Plan(t.region, t.places.Everywhere(), ch, t.fences, t.byKeys)
	if err != nil || statements.Empty() {
		return err
	}
	if err := t.conn.holdsAll(ch); err != nil {
		return err
	}
	statements.Begin(t.unfenced())
	if err := statements.Send(ctx, t.conn); err != nil {
		return err
	}
	t.lessons.wrote(ch, statements)
	if err := t.placeConsumers(ctx, ch.ConsumerInsert); err != nil {
		return err
	}
	return t.settleNames(ctx, statements.Naming())
}

// placeConsumers notes that a project is in a region in which it has its first consumers: they are looked for where the project may have claims.
func (t *tx) placeConsumers(ctx context.Context, made []ipam.Consumer) error {
	if len(made) == 0 || !t.places.Several() || t.dry {
		return nil
	}
	for _, c := range made {
		regions, err := t.RegionsOf(ctx, c.ProjectID)
		if err == nil && !slices.Contains(regions, c.Region) {
			err = &storage.Unplaced{Projects: []ipam.ID{c.ProjectID}, Region: c.Region}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unfenced are the projects that are to be remembered and have no fence to be remembered under.
func (t *tx) unfenced() []lookup.Place {
	return slices.DeleteFunc(slices.Clone(t.lessons.asked), func(at lookup.Place) bool {
		_, there := t.fences[at]
		return there
	})
}

// settleNames follows the rows of new claims, in the same transaction: nothing to do for a project that works in one region. On PostgreSQL
// it is alone with each name that it looks for, so that of two transactions in two regions the second one sees what the first has made.
func (t *tx) settleNames(ctx context.Context, n *write.Naming) error {
	if n == nil {
		return nil
	}
	for _, region := range n.Regions() {
		t.places.met(region)
	}
	if u := n.Unplaced(); u != nil && !t.dry {
		return u
	}
	ask := n.Elsewhere(t.region)
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
	used, err := lookup.Rest(results, lookup.ScanRef)
	if err := errors.Join(err, results.Close()); err != nil {
		return err
	}
	if conflict.ClaimRefs = used; conflict.Found() {
		return &conflict
	}
	return nil
}
