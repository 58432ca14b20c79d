package kinds

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func claimBatch(p *session.Program) *cobra.Command {
	var w session.Writing
	var path string
	cmd := &cobra.Command{
		Use:   "batch -f FILE",
		Short: "Claim many blocks at once, all or nothing",
		Long: `Sends a ClaimBatch document, YAML or JSON, with up to 1,000 claims. Either every claim is bound, in the order of the
file, or none exists and the refusal names the one it is about (/claims/3/spec/prefixLength).`,
		Example: `  ipamctl claim batch -f - <<END
  claims:
    - metadata: { name: node-1 }
      spec: { poolRef: { name: prod-eu-k8s }, prefixLength: 26 }
    - metadata: { name: node-2 }
      spec: { poolRef: { name: prod-eu-k8s }, prefixLength: 26 }
  END`,
		Args: verbs.Names("", 0, 0),
		RunE: p.Verb(func(ctx context.Context, _ []string) error {
			doc, err := p.File(path)
			if err != nil {
				return err
			}
			s, err := p.InProject()
			if err != nil {
				return err
			}
			// Whether the document is a batch is the server's to judge.
			a, err := s.Post(ctx, w, session.Request{Path: s.In("claim-batches"), Body: doc})
			if err != nil {
				return err
			}
			return showBatch(p, a.Body)
		}),
	}
	cmd.Flags().StringVarP(&path, "file", "f", "", "`FILE` to read, - for standard input")
	verbs.Required(cmd, "file")
	verbs.AddPost(&w, cmd)
	return cmd
}

func showBatch(p *session.Program, doc json.RawMessage) error {
	var batch struct {
		Claims []json.RawMessage `json:"claims"`
	}
	if err := json.Unmarshal(doc, &batch); err != nil {
		return fmt.Errorf("cannot read the server's answer: %w", err)
	}
	return show.Show(p.Printer, claimView(), batch.Claims, doc, true)
}
