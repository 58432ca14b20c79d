package operate

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Reconciled has the findings for one pool that is fenced off from a region. A region does not allocate from such a pool, because a restore left rows
// from different times.
type Reconciled struct {
	Pool    string         `json:"pool"`
	Region  string         `json:"region"`
	Open    bool           `json:"open"`
	Held    []netip.Prefix `json:"held"`
	Stale   []netip.Prefix `json:"stale"`
	Missing []netip.Prefix `json:"missing"`

	Forgotten []Forgotten `json:"forgotten"`
}

// Forgotten is a claim that was deleted in a region because the block belongs to another holder.
type Forgotten struct {
	Block netip.Prefix `json:"cidr"`
	Claim string       `json:"claim"`
}

// Reconciling selects the repairs that the command may make.
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
		Short: "Open the pools that are fenced off from a region after a restore, in the database itself",
		Long: `After a restore of one region alone, the region's rows and the record of the blocks that were lent to it can be from different times. Such
a pool is fenced off: the region does not allocate from it. This command compares both sides for every fenced pool of the region, and
opens the pools where they match.

--repair makes the corrections that never allocate an address twice. It removes STALE addresses from the region: they are free in its
rows, but no longer lent to it. It reserves MISSING addresses for 30 days as cooling blocks, because they may be in use: they are lent to
the region, but are in none of its rows. To end this earlier, delete the allocation.

HELD addresses are held in the region's rows, but no longer lent to it, so two holders may use them. Find out which holder does. The pool
stays fenced off until --forget names the block. --forget deletes the region's claims on addresses that are no longer lent to it, records
this in the audit trail of their projects, and corrects their quotas. The other holder keeps the addresses. docs/runbooks/restore.md
explains how to find the users.

Exit code 0: all pools are open. 1: some pools stay closed.`,
		Example: "  ipamctl region reconcile --database-url postgresql://carve@db.example.com:26257/carve --region eu-west1\n  ipamctl region reconcile --data-dir ./data --repair\n  ipamctl region reconcile --data-dir ./data --repair --forget 10.0.0.0/28",
		RunE: p.verb("findings have no names", func(ctx context.Context) error {
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
	cmd.Flags().StringVar(&region, "region", "", "`REGION` to check (env CARVE_REGION, default "+defaultRegion+")")
	cmd.Flags().BoolVar(&o.Repair, "repair", false, "make the corrections that never allocate an address twice")
	cmd.Flags().StringArrayVar(&forget, "forget", nil, "delete this region's claims in `CIDR` on addresses that are no longer lent to it and have another holder (repeatable)")
	return cmd
}

func (p *Operator) showReconciled(found []Reconciled) error {
	closed := slices.ContainsFunc(found, func(r Reconciled) bool { return !r.Open })
	switch {
	case p.Structured():
		if err := p.DocumentOf(map[string][]Reconciled{"items": append([]Reconciled{}, found...)}); err != nil {
			return err
		}
	case len(found) > 0:
		if err := p.Write(show.Table(p.Printer, reconciledColumns(found), found)); err != nil {
			return err
		}
	}
	if closed {
		return exit.Verdict(exit.Failed)
	}
	if !p.Structured() {
		p.Note("every pool is open in this region")
	}
	return nil
}

func reconciledColumns(found []Reconciled) []show.Column {
	text := `
		POOL: pool
		REGION: region
		OPEN: open
		HELD: held
		STALE: stale
		MISSING: missing`
	if slices.ContainsFunc(found, func(r Reconciled) bool { return len(r.Forgotten) > 0 }) {
		text += `
		FORGOTTEN: forgotten`
	}
	return show.Columns(text, show.Cells[Reconciled]{
		"held":      func(r Reconciled) string { return blocks(r.Held) },
		"stale":     func(r Reconciled) string { return blocks(r.Stale) },
		"missing":   func(r Reconciled) string { return blocks(r.Missing) },
		"forgotten": func(r Reconciled) string { return forgotten(r.Forgotten) },
	})
}

// maxBlocksShown limits the blocks in a table cell. -o json has all blocks.
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
