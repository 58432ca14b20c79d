package cli

import (
	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/operate"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Manual returns the command tree for the manual pages and for completions. Its commands cannot run.
func Manual() *cobra.Command {
	nothing := func(string) (string, bool) { return "", false }
	return root(&session.Program{Printer: &show.Printer{}, Lookup: nothing}, operate.Database{})
}
