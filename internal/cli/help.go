package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// entry matches a line in a command list. The line has a name, and a sentence in the next column.
var entry = regexp.MustCompile(`^(  [a-z-]+ +)[A-Z].*$`)

// narrowHelp wraps all commands' help to the terminal's width. If the help does not go to a terminal, its lines stay as they are.
func narrowHelp(root *cobra.Command, width int) {
	if width <= 0 {
		return
	}
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "Flags.FlagUsages |", fmt.Sprintf("Flags.FlagUsagesWrapped %d |", width)))
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		text := strings.TrimRight(show.FirstOf(cmd.Long, cmd.Short), " \n")
		usage := strings.Split(cmd.UsageString(), "\n")
		for n, line := range usage {
			usage[n] = entry.ReplaceAllStringFunc(line, func(line string) string { return show.Hang(line, len(entry.FindStringSubmatch(line)[1]), width) })
		}
		_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n%s", show.Wrap(text, width), strings.Join(usage, "\n")) // an error means that the reader has closed the output
	})
}
