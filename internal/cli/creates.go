package cli

import "github.com/spf13/cobra"

// creating are the flags of every create.
type creating struct {
	writing
	generate string
}

func (c *creating) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.generate, "generate-name", "", "instead of NAME: the server completes this `PREFIX`")
	c.addPost(cmd)
}

// addDryRun adds what every verb has that writes.
func (w *writing) addDryRun(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.dryRun, "dry-run", false, "answer as if it were done, and write nothing")
}

// addPost adds what every POST has.
func (w *writing) addPost(cmd *cobra.Command) {
	w.addDryRun(cmd)
	cmd.Flags().StringVar(&w.key, "idempotency-key", "", "`KEY` that makes repeats of this request one request (default: a new one)")
}

// metadata begins a new document with the name, given or to be generated.
func (c *creating) metadata(kind string, args []string) (map[string]any, error) {
	m := map[string]any{}
	switch {
	case len(args) == 1 && c.generate != "":
		return nil, usagef("give a name or --generate-name, not both")
	case len(args) == 1:
		m["name"] = args[0]
	case c.generate == "":
		return nil, usagef("the %s needs a name (or --generate-name)", kind)
	default:
		m["generateName"] = c.generate
	}
	return map[string]any{"metadata": m, "spec": map[string]any{}}, nil
}

// replacing are the flags of a write that may be about one revision: a put, a set, a delete.
type replacing struct {
	writing
	ifMatch string
}

// add adds the flags; what begins the sentence about the revision.
func (r *replacing) add(cmd *cobra.Command, what string) {
	r.addDryRun(cmd)
	cmd.Flags().StringVar(&r.ifMatch, "if-match", "", what+" this revision: the `ETAG`, metadata.revision in double quotes")
}
