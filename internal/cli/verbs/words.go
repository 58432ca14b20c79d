package verbs

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Completion proposes arguments to the shell.
type Completion = func(cmd *cobra.Command, args []string, begin string) ([]string, cobra.ShellCompDirective)

// CompleteWords completes a flag that accepts one of a few words.
func CompleteWords[T ~string](cmd *cobra.Command, flag string, of []T) {
	CompleteFlag(cmd, flag, Proposing(show.Texts(of)))
}

// Proposing proposes the given words.
func Proposing(words []string) Completion {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// CompleteFlag registers a flag's completion.
func CompleteFlag(cmd *cobra.Command, flag string, propose Completion) {
	if err := cmd.RegisterFlagCompletionFunc(flag, propose); err != nil {
		panic(err) // the flag does not exist or already has a completion, which is a mistake in this program
	}
}

// Synonyms accepts other names for a command's flags.
func Synonyms(cmd *cobra.Command, names map[string]string) {
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(show.FirstOf(names[name], name))
	})
}

// AddSorting adds the flag --sort-by to a list command.
func AddSorting(p *session.Program, cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.SortBy, "sort-by", "", "sort by a `COLUMN` or a path such as .metadata.createdAt: blocks by address, numbers by size")
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
