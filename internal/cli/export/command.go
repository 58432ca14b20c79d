// Package export writes a project's objects for other tools and for `ipamctl import`.
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
	"github.com/carve-ipam/carve/internal/cli/source"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

const (
	formCSV       = "csv"
	formNetBox    = "netbox-csv"
	formPlan      = "plan"
	formTerraform = "terraform"
)

// files has the files to write. A file without a name may go to standard output.
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
	for _, o := range v.objects() {
		annotations, err := cell(o.annotations)
		if err != nil {
			return nil, err
		}
		spec, err := cell(o.spec)
		if err != nil {
			return nil, err
		}
		if strings.Contains(o.parent, "/") { // an import cannot create another project's space
			o.space = ""
		}
		sheet.Row(o.kind, o.space, o.name, o.parent, o.cidr, o.description, labelsText(o.labels), annotations, spec)
	}
	return files{{"", sheet.Bytes()}}, nil
}

// cell returns an object as JSON. For an empty object it returns an empty cell.
func cell[V any](object map[string]V) (string, error) {
	if len(object) == 0 {
		return "", nil
	}
	text, err := show.Marshal(object)
	return string(text), err
}
