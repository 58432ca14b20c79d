package acceptance_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fence returns the first code block of a language below a heading.
func fence(t testing.TB, page, heading, language string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "\n"+heading+"\n")
	require.True(t, found, heading)
	_, rest, found = strings.Cut(rest, "\n```"+language+"\n")
	require.True(t, found, language)
	block, _, found := strings.Cut(rest, "\n```\n")
	require.True(t, found)
	return block + "\n"
}

func TestExampleInTheGuideHasTheShownOutput(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(root("docs/terraform.md"))
	require.NoError(t, err)
	f := newFolder(t, world.main, "", "")
	f.write("main.tf", fence(t, string(page), "## A whole example", "terraform"))
	said := f.apply()
	f.empty()
	promised := fence(t, string(page), "`terraform apply` prints the blocks:", "")
	_, printed, _ := strings.Cut(said, "Outputs:\n\n")
	require.Contains(t, []string{promised, strings.NewReplacer(".16.", ".20.", ".20.", ".16.").Replace(promised)}, printed)
	f.run("fmt", "-check", "main.tf")

	id := fence(t, string(page), "## Import", "terraform")
	f.run("state", "rm", `carve_claim.cluster["blue"]`)
	f.write("import.tf", id)
	require.Contains(t, f.apply(), "1 imported, 0 added, 0 changed, 0 destroyed")
	f.remove("import.tf")
	f.empty()
	f.destroy()
}
