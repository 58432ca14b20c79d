package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

func (p *program) claimBatch() *cobra.Command {
	var w writing
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
		Args: names("", 0, 0),
		RunE: p.verb(func(ctx context.Context, _ []string) error {
			doc, err := p.file(path)
			if err != nil {
				return err
			}
			s, err := p.inProject()
			if err != nil {
				return err
			}
			// Whether the document is a batch is the server's to judge.
			a, err := s.post(ctx, w, request{path: s.in("claim-batches"), body: doc})
			if err != nil {
				return err
			}
			return p.showBatch(a.body)
		}),
	}
	cmd.Flags().StringVarP(&path, "file", "f", "", "`FILE` to read, - for standard input")
	required(cmd, "file")
	w.addPost(cmd)
	return cmd
}

func (p *program) showBatch(doc json.RawMessage) error {
	var batch struct {
		Claims []json.RawMessage `json:"claims"`
	}
	if err := json.Unmarshal(doc, &batch); err != nil {
		return fmt.Errorf("cannot read the server's answer: %w", err)
	}
	return show(p, claimView(), batch.Claims, doc, true)
}
