package kinds

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func claimExplain(k verbs.Kind) *cobra.Command {
	return verbs.Bare(k.Writing(verbs.Writer{
		Use:   "explain [--class CLASS | --pool POOL | --selector LABELS | --allocation UUID]",
		Short: "Preview the result of a claim, with the reasons and remedies",
		Long: `Shows the block that 'claim create' with the same flags would get now, and each step of the decision: the class, the pools in their
order, the quotas, and the result of each. It writes nothing and reserves nothing, so the next claim can take the block.

-q prints only the CIDR, or nothing if the server would refuse the claim. The exit code is 0 in both cases. For a pool of another
project without a grant, only the project is shown.`,
		Example: `  ipamctl claim explain --class standard --prefix-length 26
  ipamctl claim explain --family 6
  ipamctl claim explain --class clusters --scope cluster=web-eu`,
		Check: checkClaim,
	}, claimFields(), func(ctx context.Context, r verbs.Resource, doc map[string]any, _ session.Query) error {
		a, err := r.Ask(ctx, session.Request{Method: http.MethodPost, Path: r.In("claim-explanations"), Body: withSpec(doc)})
		if err != nil {
			return err
		}
		return showExplanation(k.P, a.Body)
	}))
}

// showExplanation prints the server's decision: a sentence, the steps and the remedies.
func showExplanation(p *session.Program, doc json.RawMessage) error {
	e, err := show.Read[client.ClaimExplanation](doc)
	if err != nil {
		return err
	}
	words := func() []string {
		if e.AllocatedCIDR == "" {
			p.Remark("%s", show.Clean(e.Detail))
			return nil
		}
		return []string{e.AllocatedCIDR}
	}
	return p.Report(doc, words, func() error {
		var b bytes.Buffer
		b.WriteString(decisionText(e))
		if len(e.Steps) > 0 {
			b.WriteByte('\n')
			b.Write(show.Table(p.Printer, stepColumns, e.Steps))
		}
		if len(e.Remedies) > 0 {
			b.WriteByte('\n')
			b.Write(show.Table(p.Printer, remedyColumns, e.Remedies))
		}
		return p.Write(b.Bytes())
	})
}

// decisionText returns the decision as text with one or two lines.
func decisionText(e client.ClaimExplanation) string {
	text := string(e.Outcome)
	if e.Code != "" {
		text += " (" + string(e.Code) + ")"
	}
	text += ": " + e.Detail
	if e.Outcome == client.ClaimOutcomeBound && e.ReclaimPolicy != "" {
		text += " Reclaim policy: " + string(e.ReclaimPolicy) + "."
	}
	return show.Clean(text) + "\n"
}

var stepColumns = show.Columns[client.DecisionStep](`
	OUTCOME: outcome
	KIND: kind
	NAME: name
	CODE: code, wide
	WHY: detail`, nil)

var remedyColumns = show.Columns(`
	WHAT WOULD HELP: detail
	FLAG: flag`, show.Cells[client.Remedy]{"flag": remedyFlag})

// remedyFlag returns the flag that applies a remedy. If there is no such flag, it returns "".
func remedyFlag(r client.Remedy) string {
	flag, known := map[string]string{
		"/spec/className": "--class", "/spec/poolRef": "--pool", "/spec/poolSelector": "--selector", "/spec/allocationRef": "--allocation",
		"/spec/prefixLength": "--prefix-length", "/spec/cidr": "--cidr", "/spec/address": "--address", "/spec/ipFamily": "--family",
		"/spec/reclaimPolicy": "--reclaim-policy",
	}[strings.TrimSuffix(r.Pointer, "/name")]
	switch role, scoped := strings.CutPrefix(r.Pointer, "/spec/scope/"); {
	case scoped:
		return "--scope " + role + "=" + show.FirstOf(r.Value, "...")
	case known && r.Value != "":
		return flag + " " + r.Value
	case known:
		return flag
	default:
		return strings.TrimSpace(r.Pointer + " " + r.Value)
	}
}
