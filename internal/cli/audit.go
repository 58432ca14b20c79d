package cli

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/crdb"
)

// auditDocument is an audit for programs.
type auditDocument struct {
	Clean    bool             `json:"clean"`
	Checked  map[string]int64 `json:"checked"` // rows by table
	Findings []auditFinding   `json:"findings"`
}

type auditFinding struct {
	Invariant string `json:"invariant"`
	Container string `json:"container"`
	Detail    string `json:"detail"`
}

func (p *program) auditCommand() *cobra.Command {
	var t target
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Check every invariant of the data in SQL",
		Long: `Checks in one snapshot of the database that every pool and space is tiled by its blocks, that no two held blocks of a
space overlap, that claims and allocations match one to one, and that derived figures equal recomputed ones. It changes
nothing and may run while the service works.

This is about the data. Who did what is another question: the audit trail is 'ipamctl event list'.

What was proved is printed by name; -o wide says what each invariant is.

Exit code 0: clean. 1: something is wrong, and is printed. Anything else: it could not be checked.`,
		Example:           "  ipamctl audit --data-dir ./data\n  ipamctl audit --database-url postgresql://carve@db.example.com:26257/carve -o json",
		Args:              names("", 0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.verb(func(ctx context.Context, _ []string) error {
			if p.flags.output == formatName {
				return usagef("findings have no names: use -o table, json or yaml")
			}
			dsn, err := p.dsn(t)
			if err != nil {
				return err
			}
			report, err := p.Database.Audit(ctx, dsn)
			if err != nil {
				return databaseError{err, exitUnavailable} // 1 is for what was found
			}
			if err := p.showReport(report); err != nil {
				return err
			}
			if n := len(report.Findings); n > 0 {
				p.note("audit: %s", counted(n, "finding"))
				return verdict(exitFailed)
			}
			return nil
		}),
	}
	t.add(cmd)
	return cmd
}

func (p *program) showReport(r crdb.Report) error {
	switch p.flags.output {
	case formatJSON, formatYAML:
		return p.showAuditDocument(r)
	}
	if len(r.Findings) > 0 {
		return p.write(tableOf(p, []column[crdb.Finding]{
			{title: "INVARIANT", cell: func(f crdb.Finding) string { return f.Invariant }},
			{title: "CONTAINER", cell: func(f crdb.Finding) string { return f.Container }},
			{title: "WHAT IS WRONG", cell: func(f crdb.Finding) string { return f.Detail }},
		}, r.Findings))
	}
	if p.flags.quiet {
		return nil
	}
	text := tableOf(p, []column[string]{
		{title: "CHECKED", cell: func(table string) string { return table }},
		{title: "ROWS", cell: func(table string) string { return strconv.FormatInt(r.Checked[table], 10) }},
	}, slices.Sorted(maps.Keys(r.Checked)))
	return p.write(slices.Concat(text, []byte("\n"), p.proved(), []byte("audit clean\n")))
}

// proved says what holds: the invariants by name, and under -o wide what each of them is.
func (p *program) proved() []byte {
	all := crdb.Invariants()
	if p.flags.output == formatWide {
		return append(tableOf(p, []column[crdb.Invariant]{
			{title: "INVARIANT", cell: func(i crdb.Invariant) string { return i.Name }},
			{title: "WHAT HOLDS", cell: func(i crdb.Invariant) string { return i.Holds }},
		}, all), '\n')
	}
	names := words(wordsOf(all, func(i crdb.Invariant) string { return i.Name }))
	return []byte(strconv.Itoa(len(all)) + " invariants hold: " + wrapped(names, 90, "\n  ") + "\n")
}

func (p *program) showAuditDocument(r crdb.Report) error {
	doc := auditDocument{Clean: len(r.Findings) == 0, Checked: r.Checked, Findings: []auditFinding{}}
	for _, f := range r.Findings {
		doc.Findings = append(doc.Findings, auditFinding(f))
	}
	text, err := marshal(doc)
	if err != nil {
		return err
	}
	return p.document(text)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
