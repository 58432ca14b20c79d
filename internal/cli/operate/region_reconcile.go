package operate

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Reconciled is the findings for one pool that is fenced off from a region.
type Reconciled struct {
	Pool    string         `json:"pool"`
	Region  string         `json:"region"`
	Open    bool           `json:"open"`
	Held    []netip.Prefix `json:"held"`
	Stale   []netip.Prefix `json:"stale"`
	Missing []netip.Prefix `json:"missing"`

	Forgotten []Forgotten `json:"forgotten"`
}

// Forgotten is a hold of a region that was dropped in favour of another holder.
type Forgotten struct {
	Block netip.Prefix `json:"cidr"`
	Claim string       `json:"claim"`
}

// Reconciling selects the allowed repairs.
type Reconciling struct {
	Repair bool
	Forget []netip.Prefix
}

// RegionReconcile returns the command `region reconcile`.
func (p *Operator) RegionReconcile() *cobra.Command {
	var t target
	var region string
	var o Reconciling
	var forget []string
	cmd := &cobra.Command{
		Use:   "reconcile",
		Short: "Open pools that a region was fenced off from after a restore, in the database itself",
		Long: `A region does not draw from a pool while its rows are of another time than the record of the blocks that it was lent: one of the
two was restored without the other. This looks at every such pool of the region, and opens those whose rows add up to what was lent.

With --repair it makes them add up where that cannot give an address twice. STALE addresses (free in the region's rows, and not the
region's any more) are taken from it. MISSING ones (the region's, and in none of its rows) are kept from everybody for 30 days, as blocks
that cool down: somebody may use them; deleting the allocation ends it.
HELD ones (held in the region's rows, and not the region's any more) may be held by two: only people can find out who uses them, and the region
stays fenced off from that pool until --forget names the block. That deletes the claims of this region on addresses which are not the region's
any more, tells the trail of their projects, and takes them out of their quotas; the other holder keeps the addresses.
docs/runbooks/restore.md says how to find out.

Exit code 0: all pools are open. 1: some are not.`,
		Example: "  ipamctl region reconcile --database-url postgresql://carve@db.example.com:26257/carve --region eu-west1\n  ipamctl region reconcile --data-dir ./data --repair\n  ipamctl region reconcile --data-dir ./data --repair --forget 10.0.0.0/28",
		RunE: p.Verb(func(ctx context.Context, _ []string) error {
			if p.Output == show.FormatName {
				return exit.Usagef("what was found has no names: use -o table, json or yaml")
			}
			if p.Reconcile == nil {
				return errors.New("this build cannot reconcile regions in a database")
			}
			if len(forget) > 0 && !o.Repair {
				return exit.Usagef("--forget needs --repair")
			}
			for _, text := range forget {
				block, err := netip.ParsePrefix(text)
				if err != nil || block.Masked() != block {
					return exit.Usagef("--forget %q is not a block, like 10.0.0.0/28", text)
				}
				o.Forget = append(o.Forget, block)
			}
			dsn, err := p.dsn(t)
			if err != nil {
				return err
			}
			defer p.Waiting("reconciling")()
			found, err := p.Reconcile(ctx, dsn, show.FirstOf(region, p.Env("CARVE_REGION"), defaultRegion), o)
			if err != nil {
				return offline(err)
			}
			return p.showReconciled(found)
		}),
	}
	t.add(cmd)
	cmd.Flags().StringVar(&region, "region", "", "`REGION` to look at (env CARVE_REGION, default "+defaultRegion+")")
	cmd.Flags().BoolVar(&o.Repair, "repair", false, "make the rows add up where that cannot give an address twice")
	cmd.Flags().StringArrayVar(&forget, "forget", nil, "give up what this region holds in `CIDR` and is not its own any more: somebody else has it (can be repeated)")
	return cmd
}

func (p *Operator) showReconciled(found []Reconciled) error {
	closed := 0
	for _, f := range found {
		if !f.Open {
			closed++
		}
	}
	switch {
	case p.Structured():
		text, err := show.Marshal(struct {
			Items []Reconciled `json:"items"`
		}{append([]Reconciled{}, found...)})
		if err != nil {
			return err
		}
		if err := p.Document(text); err != nil {
			return err
		}
	default:
		if len(found) > 0 {
			columns := []show.Column[Reconciled]{
				{Title: "POOL", Cell: func(r Reconciled) string { return r.Pool }},
				{Title: "REGION", Cell: func(r Reconciled) string { return r.Region }},
				{Title: "OPEN", Cell: func(r Reconciled) string { return show.Yes(r.Open) }},
				{Title: "HELD", Cell: func(r Reconciled) string { return blocks(r.Held) }},
				{Title: "STALE", Cell: func(r Reconciled) string { return blocks(r.Stale) }},
				{Title: "MISSING", Cell: func(r Reconciled) string { return blocks(r.Missing) }},
			}
			if slices.ContainsFunc(found, func(r Reconciled) bool { return len(r.Forgotten) > 0 }) {
				columns = append(columns, show.Column[Reconciled]{Title: "FORGOTTEN", Cell: func(r Reconciled) string { return forgotten(r.Forgotten) }})
			}
			if err := p.Write(show.Table(p.Printer, columns, found)); err != nil {
				return err
			}
		}
		if closed == 0 {
			p.Note("every pool is open in this region")
		}
	}
	if closed > 0 {
		return exit.Verdict(exit.Failed)
	}
	return nil
}

// maxBlocksShown limits the blocks in a cell of the table; -o json has all.
const maxBlocksShown = 4

func blocks(list []netip.Prefix) string {
	var out []string
	for i, b := range list {
		if i == maxBlocksShown {
			out = append(out, "and "+show.CountOf(len(list)-i, "other"))
			break
		}
		out = append(out, b.String())
	}
	return strings.Join(out, " ")
}

func forgotten(list []Forgotten) string {
	out := make([]string, len(list))
	for i, f := range list {
		out[i] = f.Block.String() + " of " + f.Claim
	}
	return strings.Join(out, ", ")
}
