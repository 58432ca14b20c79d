// Package transfer imports data from other address managers into Carve, once or continuously. Readers (package source) produce records. A mapping
// (package rules) decides which objects these records become. A plan compares the objects with the server. A run creates the missing objects. A
// report has an outcome for every row.
package transfer

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/source"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

type importing struct {
	input
	writeMapping string
}

// about has the help text for each source.
var about = map[string]string{
	"netbox":      "NetBox: responses of its API, dumps of its database, CSV files of its lists, or a live NetBox (--url)",
	"csv":         "Any CSV file, or an export of 'ipamctl export -o csv' or the console",
	"phpipam":     "phpIPAM: its exports of subnets and addresses, saved as CSV",
	"infoblox":    "Infoblox NIOS: its CSV export",
	"aws":         "AWS IPAM: the JSON of describe-ipam-pools, get-ipam-pool-cidrs, get-ipam-pool-allocations and others; AWS' ip-ranges",
	"whereabouts": "Whereabouts: its IPPools, as 'kubectl get -o json' writes them",
	"plan":        "An address plan that contains all blocks, as 'ipamctl export -o plan' writes it",
}

// ImportCommand returns the command `import`.
func ImportCommand(p *session.Program) *cobra.Command {
	var commands []*cobra.Command
	for of := range show.Sorted(about) {
		commands = append(commands, importFrom(p, of))
	}
	return verbs.Group("import", "Import the data of another address manager", nil, commands...)
}

func importFrom(p *session.Program, of string) *cobra.Command {
	m := &importing{input: input{p: p, of: of}}
	cmd := &cobra.Command{
		Use:   of + " FILE...",
		Short: about[of],
		Long: about[of] + `.

Reads all files, compares them with the server, and creates missing spaces, pools, reservations and claims. It does not change existing
objects. It reads each file completely, or refuses it and names the line and the column. --report FILE.csv or FILE.json writes the
outcome of every row, with the reason. After an interruption, run it again to continue. --write-mapping writes the rules for the rows
to a file: edit it, and import with --mapping. Exit code 4: some rows were not imported.`,
		Example: "  ipamctl import " + of + " FILE... --write-mapping mapping.yaml\n  ipamctl import " + of +
			" FILE... --mapping mapping.yaml --dry-run\n  ipamctl import " + of + " FILE... --mapping mapping.yaml --report report.csv",
		RunE: p.Verb(m.run),
	}
	f := cmd.Flags()
	m.flags(f, of == "netbox")
	f.StringVar(&m.writeMapping, "write-mapping", "", "write the mapping of this import to this `FILE` (- for standard output), and import nothing")
	f.BoolVar(&m.dry, "dry-run", false, "show the planned changes, and change nothing")
	return cmd
}

func (m *importing) run(ctx context.Context, args []string) error {
	defer frugal()()
	mapping, err := m.readMapping()
	if err != nil {
		return err
	}
	if m.writeMapping != "" {
		return m.writeOut(ctx, mapping, args)
	}
	reading, err := m.read(ctx, mapping, args)
	if err != nil {
		return err
	}
	m.p.Hushed = true
	s, err := m.p.InProject()
	if err != nil {
		return err
	}
	w, err := desiredItems(mapping, s.Project, &reading.Records)
	if err != nil {
		return err
	}
	plan, err := prepare(ctx, s, w)
	if err != nil {
		return err
	}
	return m.carryOut(ctx, s, plan)
}

// carryOut runs the plan and reports the result. If it is a dry run, or if a policy refuses the import, it only reports.
func (m *importing) carryOut(ctx context.Context, s *session.Session, plan *plan) error {
	var failed error
	if !m.dry && !plan.refused {
		r := newRun(s, m.parallel, plan.size())
		failed = r.create(ctx, plan)
		if summary := r.progress.End(); summary != "" {
			m.p.Remark("%s", summary)
		}
	}
	out := account(plan.desired, m.dry, !m.dry)
	if err := m.print(&out, &out, out.diff); err != nil {
		return err
	}
	if plan.refused {
		was := "was"
		if m.dry {
			was = "would be"
		}
		m.p.Note("nothing %s imported: some rows are duplicates or overlap; --on-duplicate and --on-overlap select the rows to import", was)
	}
	if failed != nil {
		if exit.CodeOf(failed) == exit.Unavailable || ctx.Err() != nil {
			m.p.Note("run it again to continue: existing objects stay as they are")
		}
		return failed
	}
	if out.open() > 0 {
		return exit.Verdict(exit.Conflict)
	}
	return nil
}

// writeOut writes the mapping to a new file. If the file exists, it fails, because the user may have edited that file.
func (m *importing) writeOut(ctx context.Context, mapping rules.Mapping, paths []string) error {
	reading, err := m.records(ctx, mapping, paths)
	if unplaced, is := errors.AsType[*source.NoPlace](err); is { // the new mapping names the columns
		mapping.Columns = unplaced.Guess
		if reading, err = m.records(ctx, mapping, paths); err != nil {
			reading, err = &source.Reading{}, nil
			mapping.Columns = map[string]string{"address": strings.Join(unplaced.Titles, " or ")}
		}
	}
	if err != nil {
		return err
	}
	text, err := mapping.Write(reading)
	if err != nil {
		return err
	}
	if m.writeMapping == "-" {
		return m.p.Write(text)
	}
	f, err := os.OpenFile(m.writeMapping, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return exit.Usagef("cannot write the mapping: %v", err)
	}
	if _, err = f.Write(text); err == nil {
		err = f.Close()
	}
	if err == nil {
		m.p.Remark("%s has the rules for %s: edit it, and import with --mapping %s", m.writeMapping, show.CountOf(reading.Records.Len(), "row"), m.writeMapping)
	}
	return err
}
