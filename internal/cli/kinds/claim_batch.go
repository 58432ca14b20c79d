package kinds

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/plan"
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
		Long: `Sends a ClaimBatch document, YAML or JSON; its claims can have the form of a plan too. The server binds either all claims, in the
order of the file, or none; then the refusal names the faulty claim (/claims/3/spec/prefixLength).

ipamctl sends more than 1,000 claims in requests of 500. Each request is all or nothing, and has a key that ipamctl derives from the
file: after an interruption or a refusal, the same command continues within 24 hours.`,
		Example: `  ipamctl claim batch -f - <<END
  claims:
    - metadata: { name: node-1 }
      spec: { poolRef: { name: prod-eu-k8s }, prefixLength: 26 }
    - metadata: { name: node-2 }
      spec: { poolRef: { name: prod-eu-k8s }, prefixLength: 26 }
    - { name: node-3, pool: prod-eu-k8s, prefixLength: 26 }
  END`,
		Args: verbs.Names("", 0, 0),
		RunE: p.Verb(func(ctx context.Context, _ []string) error {
			doc, err := p.File(path)
			if err != nil {
				return err
			}
			if doc, err = plan.BatchOf(path, doc); err != nil {
				return err
			}
			s, err := p.InProject()
			if err != nil {
				return err
			}
			// If the document is small enough for one request, ipamctl does not check it. The server decides whether it is a batch.
			if parts := split(doc); len(parts) > 1 {
				return batches(ctx, s, w, doc, parts)
			}
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

// largestBatch is the contract's maximum number of claims in one request. A larger batch has parts with batchPart claims each.
const (
	largestBatch = 1000
	batchPart    = 500
)

// claimDocs has a batch's claims, or some of them.
type claimDocs struct {
	Claims []json.RawMessage `json:"claims"`
}

// split divides a document that is too large for one request. If the document is invalid, split returns nil, and the server refuses the document.
func split(doc json.RawMessage) (parts []claimDocs) {
	var all claimDocs
	if err := json.Unmarshal(doc, &all); err != nil || len(all.Claims) <= largestBatch {
		return nil
	}
	for part := range slices.Chunk(all.Claims, batchPart) {
		parts = append(parts, claimDocs{part})
	}
	return parts
}

// batches sends the parts one after the other. Each part has its own idempotency key, which is the same if the user runs the command again.
func batches(ctx context.Context, s *session.Session, w session.Writing, doc json.RawMessage, parts []claimDocs) error {
	base := show.FirstOf(w.Key, uuid.NewSHA1(uuid.NameSpaceURL, append([]byte(s.Server+"/"+s.Project+"/"), doc...)).String())
	w.Again = true // the user can safely repeat the whole command
	var made claimDocs
	for i, part := range parts {
		s.Progress("%d claims created, %d of %d requests", len(made.Claims), i, len(parts))
		w.Key = fmt.Sprintf("%s-%d", base, i+1)
		a, err := s.Post(ctx, w, session.Request{Path: s.In("claim-batches"), Body: part})
		if err != nil {
			s.Note("%s; run it again to continue", show.CountOf(len(made.Claims), "claim")+" created")
			return exit.About(part.refused(i*batchPart, err), err)
		}
		parsed, err := show.Read[claimDocs](a.Body)
		if err != nil {
			return err
		}
		made.Claims = append(made.Claims, parsed.Claims...)
	}
	whole, err := show.Marshal(made)
	if err != nil {
		return err
	}
	return showBatch(s.Program, whole)
}

// refused names the claim in the file that a refusal is about. before counts the claims in the earlier parts.
func (part claimDocs) refused(before int, err error) string {
	if at, is := session.ItemOf(err, "claims"); is && at < len(part.Claims) {
		return fmt.Sprintf("claim %d of the file (/claims/%d below)", before+at+1, at)
	}
	return fmt.Sprintf("claims %d to %d of the file", before+1, before+len(part.Claims))
}

func showBatch(p *session.Program, doc json.RawMessage) error {
	batch, err := show.Read[claimDocs](doc)
	if err != nil {
		return err
	}
	return show.Show(p.Printer, claimView(), batch.Claims, doc, true)
}
