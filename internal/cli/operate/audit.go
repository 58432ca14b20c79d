package operate

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/crdb/audit"
)

// auditDocument is an audit's result for programs.
type auditDocument struct {
	Clean    bool             `json:"clean"`
	Checked  map[string]int64 `json:"checked"` // number of checked rows, by table
	Findings []audit.Finding  `json:"findings"`
}

func (p *Operator) auditCommand() *cobra.Command {
	var t target
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Check every invariant of the data in SQL",
		Long: `Checks one snapshot of the database: the blocks of every pool and space tile it without gaps, held blocks of a space do not overlap,
claims and allocations match one to one, and derived figures equal recomputed ones. It changes nothing and can run while
servers work.

This command checks the data. 'ipamctl event list' shows the audit trail, which records actions.

It prints the name of each invariant that holds; -o wide explains the invariants.

Exit code 0: clean. 1: there are findings, and it printed them. Other codes: it could not check.`,
		Example: "  ipamctl audit --data-dir ./data\n  ipamctl audit --database-url postgresql://carve@db.example.com:26257/carve -o json",
		RunE: p.verb("findings have no names", func(ctx context.Context) error {
			dsn, err := p.dsn(t)
			if err != nil {
				return err
			}
			defer p.Waiting("checking the database")()
			report, err := p.Audit(ctx, dsn)
			if err != nil {
				return databaseError{err, exit.Unavailable} // exit code 1 is reserved for findings
			}
			if err := p.showReport(report); err != nil {
				return err
			}
			if n := len(report.Findings); n > 0 {
				p.Note("audit: %s", show.CountOf(n, "finding"))
				return exit.Verdict(exit.Failed)
			}
			return nil
		}),
	}
	t.add(cmd)
	return cmd
}

func (p *Operator) showReport(r audit.Report) error {
	if p.Structured() {
		return p.DocumentOf(auditDocument{Clean: len(r.Findings) == 0, Checked: r.Checked, Findings: append([]audit.Finding{}, r.Findings...)})
	}
	if len(r.Findings) > 0 {
		return p.Write(show.Table(p.Printer, show.Columns[audit.Finding](`
			INVARIANT: invariant
			CONTAINER: container
			WHAT IS WRONG: detail`, nil), r.Findings))
	}
	if p.Quiet {
		return nil
	}
	text := show.Table(p.Printer, []show.Column{
		{Title: "CHECKED", Cell: show.CellOf(func(table string) string { return table })},
		{Title: "ROWS", Cell: show.CellOf(func(table string) string { return strconv.FormatInt(r.Checked[table], 10) })},
	}, slices.Sorted(maps.Keys(r.Checked)))
	return p.Write(slices.Concat(text, []byte("\n"), p.proved(), []byte("audit clean\n")))
}

// proved lists the invariants that hold. With -o wide it also shows their definitions.
func (p *Operator) proved() []byte {
	all := audit.Invariants()
	if p.Output == show.FormatWide {
		return append(show.Table(p.Printer, show.Columns[audit.Invariant](`
			INVARIANT: name
			CONDITION: holds`, nil), all), '\n')
	}
	names := show.JoinComma(show.WordsOf(all, func(i audit.Invariant) string { return i.Name }))
	return []byte(strconv.Itoa(len(all)) + " invariants hold: " + show.Wrapped(names, 90, "\n  ") + "\n")
}
