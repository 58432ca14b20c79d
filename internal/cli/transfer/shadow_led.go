package transfer

import (
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/session"
)

// judgeAside compares the source with the pools in which Carve leads. It changes nothing.
func (v *view) judgeAside(m *mirror) {
	there := map[place]bool{}
	var ranges []*item
	for _, i := range v.aside {
		there[i.place()] = true
		if i.isRange() {
			ranges = append(ranges, i)
		}
	}
	for _, l := range v.led {
		here := map[netip.Prefix]*item{}
		for _, e := range l.holds {
			here[e.block] = e
			inRange := slices.ContainsFunc(ranges, func(r *item) bool { return r.covers(e) })
			if e.labelMap()[shadowLabel] == m.name && !there[e.place()] && !inRange {
				e.end(e.outcome, m.of+" no longer has it; Carve leads in pool "+l.name)
				v.lone = append(v.lone, e)
			}
		}
		for _, i := range v.aside {
			if i.domain == l.domain && l.block.Contains(i.from()) {
				i.judge(l, here)
			}
		}
	}
}

// judge compares an item with the content of a pool in which Carve leads.
func (i *item) judge(l ledPool, here map[netip.Prefix]*item) {
	missing := ""
	switch {
	case i.kind == rules.AsReservation:
		missing = i.where()
		for _, e := range l.holds {
			if (span{first: i.from(), last: i.to()}).in(e) {
				missing = ""
				i.parent = e
			}
		}
	case i.isRange():
		for _, block := range converge.Blocks(i.from(), i.to()) {
			if here[block] == nil {
				missing = block.String()
			}
		}
	case here[i.block] == nil:
		missing = i.where()
	default:
		i.kind, i.name = here[i.block].kind, here[i.block].name
	}
	if missing == "" {
		i.end(outcomeSame, "")
		return
	}
	i.kind, i.name = rules.AsPool, l.name // the pool in which the block is missing
	i.end(outcomeOnlyThere, missing+" was added there: Carve leads in pool "+l.name+" since "+l.since)
}

// maxBack limits the blocks whose history a pass reads. Each block costs a request.
const maxBack = 1000

// readHoldersAtSwitch reads the holders that blocks had when Carve took the lead. If Carve has released a block after that, the other system has not
// added the block.
func (m *mirror) readHoldersAtSwitch(ctx context.Context, v *view) error {
	v.back = map[place]string{}
	for _, i := range v.aside {
		if i.outcome != outcomeOnlyThere || i.isRange() || len(v.back) == maxBack {
			continue
		}
		for _, l := range v.led {
			if l.domain != i.domain || !l.block.Contains(i.from()) {
				continue
			}
			list, err := session.Into[struct{ Items []client.HistoryEntry }](m.Ask(ctx, session.Request{
				Path: converge.In(m.Session, i.project()).In("history"), Query: session.Query{}.With("address", i.from().String()).With("at", l.since),
			}))
			if err != nil {
				return err
			}
			v.back[i.place()] = ""
			for _, h := range list.Items {
				if h.AllocatedCIDR == i.block.String() && h.Until != nil {
					v.back[i.place()] = "it was released here " + h.Until.UTC().Format("2006-01-02T15:04:05Z") + ": Carve leads in pool " + l.name
				}
			}
		}
	}
	v.settleReleased()
	return nil
}

// settleReleased ends the items whose blocks Carve has released.
func (v *view) settleReleased() {
	for _, i := range v.aside {
		if why := v.back[i.place()]; why != "" && i.outcome == outcomeOnlyThere {
			i.end(outcomeEnded, why)
		}
	}
}
