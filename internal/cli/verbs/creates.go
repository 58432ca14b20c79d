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

// named checks that the command has a name, or a prefix from which the server generates a name.
func (c *creating) named(kind string, args []string) error {
	switch {
	case len(args) == 1 && c.generate != "":
		return exit.Usagef("give a name or --generate-name, not both")
	case len(args) == 0 && c.generate == "":
		return exit.Usagef("the %s needs a name (or --generate-name)", kind)
	default:
		return nil
	}
}

// metadata adds the name or the prefix to a document.
func (c *creating) metadata(doc map[string]any, name string) map[string]any {
	if name != "" {
		return Document(doc, "name", name)
	}
	return Document(doc, "generateName", c.generate)
}

// Document completes a new object's document. It adds a member to the metadata, and a spec if there is none, because the contract requires a spec.
func Document(doc map[string]any, member, value string) map[string]any {
	Below(doc, "spec")
	Below(doc, "metadata")[member] = value
	return doc
}

// Replacing has the flags for a command that can require a revision, such as put, set and delete.
type Replacing struct {
	session.Writing
	IfMatch string
	Create  bool // the object must not exist yet
}

// Add adds the flags. what is the beginning of the help text for --if-match.
func (r *Replacing) Add(cmd *cobra.Command, what string) {
	AddDryRun(&r.Writing, cmd)
	cmd.Flags().StringVar(&r.IfMatch, "if-match", "", what+" this revision: the `ETAG`, metadata.revision in double quotes")
}
