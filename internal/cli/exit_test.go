package cli

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/operate"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

func TestManualAndHelpExplainTheExitCodes(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../docs/ipamctl.md")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| ([a-z ]+) \| (.+) \|$`).FindAllStringSubmatch(string(manual), -1)
	require.Len(t, rows, len(exit.Codes))
	help := strings.Join(strings.Fields(exitCodesTopic().Long), " ")
	for i, c := range exit.Codes {
		require.Equal(t, []string{strconv.Itoa(c.Code), c.Name, c.Meaning}, rows[i][1:])
		require.Contains(t, help, strconv.Itoa(c.Code)+" "+c.Name+" "+c.Meaning)
		require.Equal(t, i, c.Code, "codes are counted without a gap")
	}
}

func TestManualNamesEveryVerbAndVariable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/ipamctl.md")
	require.NoError(t, err)
	manual := string(text)
	told := map[string]bool{}
	words := regexp.MustCompile("`([^`]+)`")
	for _, row := range regexp.MustCompile("(?m)^\\| ((?:`[a-z][a-z -]*`(?:, )?)+) \\| ((?:`[a-z]+` ?)*) ?\\|").FindAllStringSubmatch(manual, -1) {
		for _, kind := range words.FindAllStringSubmatch(row[1], -1) {
			told["ipamctl "+kind[1]] = row[2] == ""
			for _, verb := range words.FindAllStringSubmatch(row[2], -1) {
				told["ipamctl "+kind[1]+" "+verb[1]] = true
			}
		}
	}
	verbs := map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		byVerb := c.HasParent() && c.Parent().GroupID == groupVerb // the verbs that are before the kinds
		if c.HasParent() && c.Runnable() && !c.HasSubCommands() && !byVerb {
			verbs[c.CommandPath()] = true
		}
		for _, variable := range regexp.MustCompile(`CARVE_[A-Z_]+`).FindAllString(c.LocalFlags().FlagUsages(), -1) {
			require.Contains(t, manual, "`"+variable+"`")
		}
	}
	walk(root(&session.Program{Printer: &show.Printer{}}, operate.Database{}))
	for kind, verb := range told {
		if !verb {
			delete(told, kind) // this command has its own verbs
		}
	}
	require.Equal(t, slices.Sorted(maps.Keys(verbs)), slices.Sorted(maps.Keys(told)))
}
