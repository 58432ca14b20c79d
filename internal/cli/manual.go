package cli

import (
	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/operate"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Manual is the tree of commands as man pages and completions are made of it. Nothing in it is there to be carried out.
func Manual() *cobra.Command {
	nothing := func(string) (string, bool) { return "", false }
	return root(&session.Program{Printer: &show.Printer{}, Lookup: nothing}, operate.Database{})
}
