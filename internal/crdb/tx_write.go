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

// Write implements storage.Tx. It sends all statements in one round trip, each with a check that it hit the rows that it names. Names that may exist
// in other regions cost a second round trip. A batch with 1,000 claims is sent whole, too: building it takes a twentieth of its time. A test that
// sent it in parts, while the database worked on the part before, was no faster.
func (t *tx) Write(ctx context.Context, ch storage.Changes) error {
	if missing := write.FencesMissing(ch, t.fences); len(missing) > 0 { // an allocation that leaves retention to cool down: the transaction read no free blocks
		if err := t.fences.Read(ctx, t.conn, missing); err != nil {
			return err
		}
	}
	statements, err := write.Plan(t.region, t.regions.Everywhere(), ch, t.fences, t.byKeys)
	if err != nil || statements.Empty() {
		return err
	}
	if err := t.conn.holdsAll(ch); err != nil {
		return err
	}
	statements.Begin(t.missingFences())
	if err := statements.Send(ctx, t.conn); err != nil {
		return err
	}
	t.fill.wrote(ch, statements)
	if err := t.placeConsumers(ctx, ch.ConsumerInsert); err != nil {
		return err
	}
	return t.checkNames(ctx, statements.Naming())
}

// placeConsumers returns an error if a project creates its first consumers in a region that is not recorded for it. Consumers are looked up only in
// recorded regions.
func (t *tx) placeConsumers(ctx context.Context, made []ipam.Consumer) error {
	if len(made) == 0 || !t.regions.Several() || t.dry {
		return nil
	}
	for _, c := range made {
		regions, err := t.RegionsOf(ctx, c.ProjectID)
		if err == nil && !slices.Contains(regions, c.Region) {
			err = &storage.RegionNotRecorded{Projects: []ipam.ID{c.ProjectID}, Region: c.Region}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// missingFences returns the projects that are to be cached and have no fence (version row) yet.
func (t *tx) missingFences() []lookup.FenceKey {
	return slices.DeleteFunc(slices.Clone(t.fill.asked), func(at lookup.FenceKey) bool {
		_, there := t.fences[at]
		return there
	})
}

// checkNames checks new claims' names, in the same transaction. For a project in one region it does nothing. On PostgreSQL it locks each name that
// it looks up, so the second of two transactions in two regions sees the first one's claims.
func (t *tx) checkNames(ctx context.Context, n *write.Naming) error {
	if n == nil {
		return nil
	}
	for _, region := range n.Regions() {
		t.regions.noticeRegion(region)
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
