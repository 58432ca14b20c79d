// Package export writes the objects of a project for other tools and for `ipamctl import`.
package export

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/snapshot"
	"github.com/carve-ipam/carve/internal/cli/source"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// These are the formats of an export.
const (
	formCSV       = "csv"
	formNetBox    = "netbox-csv"
	formPlan      = "plan"
	formTerraform = "terraform"
)

// files has the files of an export, by name. A file without a name may go to standard output.
type files []struct {
	name string
	text []byte
}

// Command returns the command `export`.
func Command(p *session.Program) *cobra.Command {
	var form, to string
	cmd := verbs.Bare(&cobra.Command{
		Use:   "export -o csv|netbox-csv|plan|terraform [--to FILE]",
		Short: "Export all spaces, classes, pools and claims of a project for other tools",
		Long: `Exports the spaces, classes, pools and claims of the project. 'ipamctl import csv' and 'ipamctl import plan' restore the formats csv and
plan in an empty project. netbox-csv writes four files for NetBox' own import into the directory --to. terraform writes a resource and
an import block for each object, and also for alert rules, webhooks and consumer attachments. A webhook's URL with a path or a query may
contain a token: the export has a variable instead. The command does not export grants, quotas, members, keys, consumers and retained
blocks.`,
		Example: "  ipamctl export -o csv --to team-a.csv\n  ipamctl export -o netbox-csv --to netbox/\n  ipamctl export -o terraform > team-a.tf",
	})
	f := cmd.Flags()
	forms := verbs.NewChoice(&form, formCSV, formCSV, formNetBox, formPlan, formTerraform)
	f.VarP(forms, "output", "o", "format of the export: csv, netbox-csv, plan, terraform")
	f.StringVar(&to, "to", "", "`FILE` to write; for netbox-csv a directory (default: standard output)")
	cmd.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		f.Lookup("output").Changed = true // ignores CARVE_OUTPUT, which has a format for tables
		return p.FromEnvironment(cmd.Flags())
	}
	cmd.RunE = p.Verb(func(ctx context.Context, _ []string) error {
		if form == formNetBox && to == "" {
			return exit.Usagef("netbox-csv writes several files: give their directory with --to")
		}
		s, err := p.InProject()
		if err != nil {
			return err
		}
		inv, err := gather(ctx, s)
		if err != nil {
			return err
		}
		write := map[string]func(*inventory) (files, error){formCSV: asCSV, formNetBox: asNetBox, formPlan: asPlan, formTerraform: asTerraform}
		if form == formTerraform {
			err = inv.gatherAuxiliary(ctx, s)
		} else {
			inv.noteDrains()
		}
		if err != nil {
			return err
		}
		out, err := write[form](inv)
		if err != nil {
			return err
		}
		for _, note := range inv.notes {
			p.Remark("%s", note)
		}
		return out.put(p, to)
	})
	return cmd
}

// put writes the files to standard output or to the path in to.
func (out files) put(p *session.Program, to string) error {
	for _, f := range out {
		if to == "" {
			if err := p.Write(f.text); err != nil {
				return err
			}
			continue
		}
		path := to
		if f.name != "" {
			if err := os.MkdirAll(to, 0o700); err != nil {
				return fmt.Errorf("cannot write the export: %w", err)
			}
			path = filepath.Join(to, f.name)
		}
		if err := os.WriteFile(path, f.text, 0o600); err != nil {
			return fmt.Errorf("cannot write the export: %w", err)
		}
	}
	return nil
}

// asCSV returns one table with all objects. `ipamctl import csv` reads this table.
func asCSV(v *inventory) (files, error) {
	var sheet show.Sheet
	sheet.Row(source.OwnColumns...)
	var fault error
	line := func(kind, space, name, parent, block, description string, labels, annotations map[string]string, spec any) {
		notes, err := show.Marshal(annotations)
		if len(annotations) == 0 {
			notes = nil
		}
		rest, err2 := show.Marshal(spec)
		if string(rest) == "{}" {
			rest = nil
		}
		if fault == nil && (err != nil || err2 != nil) {
			fault = fmt.Errorf("cannot write %s %s: %w", kind, name, first2(err, err2))
		}
		sheet.Row(kind, space, name, parent, block, description, labelsText(labels), string(notes), string(rest))
	}
	for _, s := range v.spaces {
		line("space", "", s.Metadata.Name, "", "", s.Spec.Description, s.Metadata.Labels, s.Metadata.Annotations, struct{}{})
	}
	for _, c := range v.classes {
		spec, err := snapshot.Rest(c.Spec)
		fault = first2(fault, err)
		line("class", "", c.Metadata.Name, "", "", "", c.Metadata.Labels, c.Metadata.Annotations, spec)
	}
	for _, p := range v.pools {
		parent := ""
		if p.Status.ParentRef != nil {
			parent = p.Status.ParentRef.Name
		}
		line("pool", p.space, p.Metadata.Name, parent, p.Status.AllocatedCIDR, p.Spec.Description, p.Metadata.Labels, p.Metadata.Annotations, p.spec)
	}
	for _, c := range v.claims {
		space := c.space
		if strings.Contains(c.pool, "/") { // an import cannot create the space of another project's pool
			space = ""
		}
		line("claim", space, c.Metadata.Name, c.pool, c.Status.AllocatedCIDR, "", c.Metadata.Labels, c.Metadata.Annotations, c.spec)
	}
	return files{{"", sheet.Bytes()}}, fault
}

func first2(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
