package cli

import (
	"os"
	"regexp"
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

func TestTheManualAndTheHelpSayWhatTheExitCodesMean(t *testing.T) {
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

func TestTheManualNamesEveryVerbAndVariable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/ipamctl.md")
	require.NoError(t, err)
	manual := string(text)
	var verbs int
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		byVerb := c.HasParent() && c.Parent().GroupID == groupVerb // which are the verbs of the kinds
		if c.HasParent() && c.Runnable() && !c.HasSubCommands() && !byVerb {
			verbs++
			require.Contains(t, manual, "`"+c.CommandPath()+"`")
		}
		for _, variable := range regexp.MustCompile(`CARVE_[A-Z_]+`).FindAllString(c.LocalFlags().FlagUsages(), -1) {
			require.Contains(t, manual, "`"+variable+"`")
		}
	}
	walk(root(&session.Program{Printer: &show.Printer{}}, operate.Database{}))
	require.Greater(t, verbs, 20)
}
