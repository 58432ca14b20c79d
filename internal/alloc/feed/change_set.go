package feed

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/ipam"
)

type object struct{ kind, name string }

// eventRow is an event with the audit trail row that contains it.
type eventRow struct {
	*ipam.Event

	row    ipam.ID // the ID of the row's last event
	commit string
}

// changeSet makes changes from audit trail rows. It makes one change for each object, however often the object has changed.
type changeSet struct {
	changes map[object]*Change
}

// gather returns a change for each object that the rows changed, with the object's current state. It sorts the changes by their last events.
func gather(ctx context.Context, read storage.Reader, in storage.ProjectKey, rows []storage.FeedRow) ([]*Change, error) {
	g := changeSet{changes: map[object]*Change{}}
	for _, row := range rows {
		for i := range row.Events {
			g.event(eventRow{&row.Events[i], row.Events[len(row.Events)-1].ID, row.Commit})
		}
	}
	if err := g.read(ctx, read, in); err != nil {
		return nil, err
	}
	changes := make([]*Change, 0, len(g.changes))
	for _, c := range g.changes {
		changes = append(changes, c)
	}
	slices.SortFunc(changes, func(a, b *Change) int {
		return cmp.Or(bytes.Compare(a.event[:], b.event[:]), cmp.Compare(b.Kind, a.Kind), cmp.Compare(a.Name, b.Name)) // a claim before its allocation
	})
	return changes, nil
}

func (g *changeSet) event(e eventRow) {
	if _, followed := kinds[e.Kind]; !followed || e.Outcome != ipam.OutcomeOK || e.Name == "" {
		return
	}
	g.touch(e.Kind, e.Name, e, relabels(e.Event))
	if e.Kind != trail.KindClaim || len(e.After) > 0 || len(e.Before) == 0 {
		return
	}
	if held := readRecord(e.Before).AllocationRef; held != nil { // a release also changes the claim's allocation
		g.touch(trail.KindAllocation, held.Name, e, true)
	}
}

func (g *changeSet) touch(kind, name string, e eventRow, relabelled bool) {
	at := object{kind, name}
	c := g.changes[at]
	if c == nil {
		c = &Change{Kind: kind, Name: name, commit: e.commit}
		g.changes[at] = c
	}
	if c.event.IsZero() || later(e.ID, c.event) {
		c.event, c.row, c.At, c.Operation = e.ID, e.row, e.At, e.Operation
	}
	if storage.CommitBefore(c.commit, e.commit) {
		c.commit = e.commit
	}
	c.relabelled = c.relabelled || relabelled
}

// read reads the objects' current state. It also adds a change for each claim's allocation, because an allocation changes with its claim.
func (g *changeSet) read(ctx context.Context, read storage.Reader, in storage.ProjectKey) error {
	names := map[string][]string{}
	for at := range g.changes {
		names[at.kind] = append(names[at.kind], at.name)
	}
	for kind, named := range names {
		found, err := kinds[kind](ctx, read, in, named)
		if err != nil {
			return err
		}
		for name, one := range found {
			if c := g.changes[object{kind, name}]; c != nil {
				c.Object = one
			}
		}
	}
	for _, c := range g.changes {
		claim, is := c.Object.(ipam.Claim)
		if !is {
			continue
		}
		held := claim.Allocation()
		at := object{trail.KindAllocation, held.Meta().Name}
		if _, there := g.changes[at]; !there || !later(g.changes[at].event, c.event) { // the loop ignores added entries: none is a claim
			g.changes[at] = &Change{Kind: at.kind, Name: at.name, Object: held, At: c.At, Operation: c.Operation, event: c.event, row: c.row, commit: c.commit}
		}
	}
	return nil
}
