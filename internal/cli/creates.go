package cli

import (
	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

// creating are the flags of every create.
type creating struct {
	writing
	generate    string
	labels      map[string]string
	annotations map[string]string
}

func (c *creating) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.generate, "generate-name", "", "instead of NAME: the server completes this `PREFIX`")
	c.addWithName(cmd)
	f.StringVar(&c.key, "idempotency-key", "", "`KEY` that makes repeats of this request one request (default: a new one)")
}

// addWithName adds what a put has too, whose name is always given and is its key.
func (c *creating) addWithName(cmd *cobra.Command) {
	f := cmd.Flags()
	pairs(f, &c.labels, "label", "label to set")
	pairs(f, &c.annotations, "annotation", "annotation to set")
	f.BoolVar(&c.dryRun, "dry-run", false, "answer as if it were done, and write nothing")
}

// metadata is the name, given or to be generated, with labels and annotations.
func (c *creating) metadata(kind string, args []string) (client.CreateMetadata, error) {
	m := client.CreateMetadata{GenerateName: c.generate, Labels: c.labels, Annotations: c.annotations}
	switch {
	case len(args) == 1 && c.generate != "":
		return m, usagef("give a name or --generate-name, not both")
	case len(args) == 1:
		m.Name = args[0]
	case c.generate == "":
		return m, usagef("the %s needs a name (or --generate-name)", kind)
	}
	return m, nil
}
