package verbs

import (
	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
)

// creating are the flags of every create.
type creating struct {
	session.Writing
	generate string
}

func (c *creating) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.generate, "generate-name", "", "instead of NAME: the server completes this `PREFIX`")
	AddPost(&c.Writing, cmd)
}

// AddDryRun adds what every verb has that writes.
func AddDryRun(w *session.Writing, cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.DryRun, "dry-run", false, "answer as if it were done, and write nothing")
}

// AddPost adds what every POST has.
func AddPost(w *session.Writing, cmd *cobra.Command) {
	AddDryRun(w, cmd)
	cmd.Flags().StringVar(&w.Key, "idempotency-key", "", "`KEY` that makes repeats of this request one request (default: a new one)")
}

// metadata begins a new document with the name, given or to be generated.
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

// Replacing are the flags of a write that may be about one revision: a put, a set, a delete.
type Replacing struct {
	session.Writing
	IfMatch string
	Create  bool // there was nothing to replace
}

// Add adds the flags; what begins the sentence about the revision.
func (r *Replacing) Add(cmd *cobra.Command, what string) {
	AddDryRun(&r.Writing, cmd)
	cmd.Flags().StringVar(&r.IfMatch, "if-match", "", what+" this revision: the `ETAG`, metadata.revision in double quotes")
}
