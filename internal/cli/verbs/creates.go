package verbs

import (
	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
)

// creating has the flags that every create command has.
type creating struct {
	session.Writing
	generate string
}

func (c *creating) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.generate, "generate-name", "", "instead of NAME: the server completes this `PREFIX`")
	AddPost(&c.Writing, cmd)
}

// AddDryRun adds the flag --dry-run, which every command that writes has.
func AddDryRun(w *session.Writing, cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.DryRun, "dry-run", false, "show the result, and write nothing")
}

// AddPost adds the flags that every command with a POST has.
func AddPost(w *session.Writing, cmd *cobra.Command) {
	AddDryRun(w, cmd)
	cmd.Flags().StringVar(&w.Key, "idempotency-key", "", "idempotency `KEY`: the server carries out retries with the same key only once (default: a new one)")
}

// metadata starts a new document with the given name, or with a prefix from which the server generates a name.
func (c *creating) metadata(kind string, args []string) (map[string]any, error) {
	m := map[string]any{}
	switch {
	case len(args) == 1 && c.generate != "":
		return nil, exit.Usagef("give a name or --generate-name, not both")
	case len(args) == 1:
		m["name"] = args[0]
	case c.generate == "":
		return nil, exit.Usagef("the %s needs a name (or --generate-name)", kind)
	default:
		m["generateName"] = c.generate
	}
	return map[string]any{"metadata": m, "spec": map[string]any{}}, nil
}

// Replacing has the flags of a command that can require a revision, such as put, set and delete.
type Replacing struct {
	session.Writing
	IfMatch string
	Create  bool // the object must not exist yet
}

// Add adds the flags. what is the start of the help text of --if-match.
func (r *Replacing) Add(cmd *cobra.Command, what string) {
	AddDryRun(&r.Writing, cmd)
	cmd.Flags().StringVar(&r.IfMatch, "if-match", "", what+" this revision: the `ETAG`, metadata.revision in double quotes")
}
