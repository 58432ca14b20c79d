package verbs

import (
	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Completion proposes arguments to the shell.
type Completion = func(cmd *cobra.Command, args []string, begin string) ([]string, cobra.ShellCompDirective)

// CompleteWords completes a flag that accepts one of a few words.
func CompleteWords[T ~string](cmd *cobra.Command, flag string, of []T) {
	list := make([]string, len(of))
	for i, w := range of {
		list[i] = string(w)
	}
	CompleteFlag(cmd, flag, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp))
}

// CompleteFlag registers the completion of a flag.
func CompleteFlag(cmd *cobra.Command, flag string, propose Completion) {
	if err := cmd.RegisterFlagCompletionFunc(flag, propose); err != nil {
		panic(err) // the flag does not exist or already has a completion, which is a mistake in this program
	}
}

// AddPaging adds the flags that every list command has.
func AddPaging(l *session.Paging, cmd *cobra.Command) {
	cmd.Flags().IntVar(&l.Limit, "limit", 0, "maximum number of items (default: all)")
	cmd.Flags().StringVar(&l.Cursor, "cursor", "", "continue a list that --limit stopped, at its `CURSOR`")
	of := []client.Consistency{client.ConsistencyStrong, client.ConsistencyStale}
	cmd.Flags().Var(NewChoice(&l.Consistency, "", of...), "consistency",
		"consistency with other regions; stale is faster, and its data may be some seconds old: "+show.JoinComma(of))
	CompleteWords(cmd, "consistency", of)
}
