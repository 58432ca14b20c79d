package kinds

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func claimExplain(p *session.Program) *cobra.Command {
	cmd := verbs.Bare(&cobra.Command{
		Use:   "explain [--class CLASS | --pool POOL | --selector LABELS | --allocation UUID]",
		Short: "Preview the result of a claim, with the reasons and remedies",
		Long: `Shows the block that 'claim create' with the same flags would get now, and each step of the decision: the class, the pools in their
order, the quotas, and the result of each. It writes nothing and reserves nothing, so the next claim can take the block.

-q prints only the CIDR, or nothing if the server would refuse the claim. The exit code is 0 in both cases. For a pool of another
project without a grant, only the project is shown.`,
		Example: `  ipamctl claim explain --class standard --prefix-length 26
  ipamctl claim explain --family 6
  ipamctl claim explain --class clusters --scope cluster=web-eu`,
	})
	fields := verbs.AddFields(p, cmd, claimFields(), false)
	cmd.RunE = p.Verb(func(ctx context.Context, _ []string) error {
		doc := map[string]any{"spec": map[string]any{}}
		if err := checkClaim(cmd); err != nil {
			return err
		}
		if err := fields.Into(cmd, doc); err != nil {
			return err
		}
		s, err := p.InProject()
		if err != nil {
			return err
		}
		body, err := show.Marshal(doc)
		if err != nil {
			return err
		}
		a, err := s.Ask(ctx, session.Request{Method: http.MethodPost, Path: s.In("claim-explanations"), Body: body})
		if err != nil {
			return err
		}
		return showExplanation(p, a.Body)
	})
	return cmd
}

// showExplanation prints a decision of the server. It prints a sentence, the steps and the remedies.
func showExplanation(p *session.Program, doc json.RawMessage) error {
	if p.Structured() {
		return p.Document(doc)
	}
	var e client.ClaimExplanation
	if err := json.Unmarshal(doc, &e); err != nil {
		return fmt.Errorf("cannot read the server's response: %w", err)
	}
	if p.Quiet || p.Output == show.FormatName {
		if e.AllocatedCIDR == "" {
			p.Remark("%s", show.Clean(e.Detail))
			return nil
		}
		return p.Lines([]string{e.AllocatedCIDR})
	}
	var b bytes.Buffer
	b.WriteString(decisionText(e))
	if len(e.Steps) > 0 {
		b.WriteByte('\n')
		b.Write(show.Table(p.Printer, stepColumns(), e.Steps))
	}
	if len(e.Remedies) > 0 {
		b.WriteByte('\n')
		b.Write(show.Table(p.Printer, remedyColumns(), e.Remedies))
	}
	return p.Write(b.Bytes())
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

func stepColumns() []show.Column[client.DecisionStep] {
	type T = client.DecisionStep
	return []show.Column[T]{
		{Title: "OUTCOME", Cell: func(t T) string { return string(t.Outcome) }},
		{Title: "KIND", Cell: func(t T) string { return string(t.Kind) }},
		{Title: "NAME", Cell: func(t T) string { return t.Name }},
		{Title: "CODE", Wide: true, Cell: func(t T) string { return string(t.Code) }},
		{Title: "WHY", Cell: func(t T) string { return t.Detail }},
	}
}

func remedyColumns() []show.Column[client.Remedy] {
	type T = client.Remedy
	return []show.Column[T]{
		{Title: "WHAT WOULD HELP", Cell: func(t T) string { return t.Detail }},
		{Title: "FLAG", Cell: remedyFlag},
	}
}

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
