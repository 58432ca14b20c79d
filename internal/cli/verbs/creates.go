package verbs

import (
	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
)

// creating are every create's flags.
type creating struct {
	session.Writing
	generate string
}

func (c *creating) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.generate, "generate-name", "", "instead of NAME: the server completes this `PREFIX`")
	AddPost(&c.Writing, cmd)
}

// AddDryRun adds the flag of every writing verb.
func AddDryRun(w *session.Writing, cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.DryRun, "dry-run", false, "show the result, and write nothing")
}

// AddPost adds the flags of every POST.
func AddPost(w *session.Writing, cmd *cobra.Command) {
	AddDryRun(w, cmd)
	cmd.Flags().StringVar(&w.Key, "idempotency-key", "", "idempotency `KEY`: the server carries out retries with the same key only once (default: a new one)")
}

// metadata starts a new document with a given or generated name.
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

// Replacing are the flags of a write that may require a revision: a put, a set, a delete.
type Replacing struct {
	session.Writing
	IfMatch string
	Create  bool // nothing existed to replace
}

// Add adds the flags; what is the start of the help text about the revision.
func (r *Replacing) Add(cmd *cobra.Command, what string) {
	AddDryRun(&r.Writing, cmd)
	cmd.Flags().StringVar(&r.IfMatch, "if-match", "", what+" this revision: the `ETAG`, metadata.revision in double quotes")
}
