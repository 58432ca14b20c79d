package cli

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

func TestTheManualAndTheHelpSayWhatTheExitCodesMean(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../docs/ipamctl.md")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| ([a-z ]+) \| (.+) \|$`).FindAllStringSubmatch(string(manual), -1)
	require.Len(t, rows, len(exitCodes))
	help := strings.Join(strings.Fields(exitCodesTopic().Long), " ")
	for i, c := range exitCodes {
		require.Equal(t, []string{strconv.Itoa(c.code), c.name, c.meaning}, rows[i][1:])
		require.Contains(t, help, strconv.Itoa(c.code)+" "+c.name+" "+c.meaning)
		require.Equal(t, i, c.code, "codes are counted without a gap")
	}
}

func TestAnErrorKeepsItsExitCodeUnderWhatIsAddedToIt(t *testing.T) {
	t.Parallel()
	full := &refusal{Problem: client.Problem{Code: client.ProblemCodePoolExhausted}, status: 409}
	busy := &refusal{Problem: client.Problem{Code: client.ProblemCodeContention}, status: 503}
	require.Equal(t, exitConflict, exitCodeOf(about("pool a", full)))
	require.Equal(t, exitUnavailable, exitCodeOf(about("pool a", keyed(busy, "k", writing{}))))
	require.Equal(t, exitUsage, exitCodeOf(usagef("no")))
	require.Equal(t, exitFailed, exitCodeOf(os.ErrClosed))
	require.Equal(t, exitOK, exitCodeOf(nil))
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
		if c.HasParent() && c.Runnable() && !c.HasSubCommands() {
			verbs++
			require.Contains(t, manual, "`"+c.CommandPath()+"`")
		}
		for _, variable := range regexp.MustCompile(`CARVE_[A-Z_]+`).FindAllString(c.LocalFlags().FlagUsages(), -1) {
			require.Contains(t, manual, "`"+variable+"`")
		}
	}
	walk((&program{}).root())
	require.Greater(t, verbs, 20)
}
