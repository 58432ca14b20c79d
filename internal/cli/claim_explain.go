package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) claimExplain() *cobra.Command {
	cmd := bare(&cobra.Command{
		Use:   "explain [--class CLASS | --pool POOL | --selector LABELS | --allocation UUID]",
		Short: "Say what a claim would get, or why it would be refused, and what would help",
		Long: `Decides a claim as 'claim create' with the same flags would at this moment, writes nothing, and shows how it was decided: the
class, the pools in their order, the quotas, and what came of each. Nobody holds the block by it: the next claim may get it.

With -q it prints the CIDR alone, and nothing where the claim would be refused. The exit code is 0 either way: the question was
answered. Pools that are not the project's, nor granted to it, are named by their project alone.`,
		Example: `  ipamctl claim explain --class standard --prefix-length 26
  ipamctl claim explain --family 6
  ipamctl claim explain --class clusters --scope cluster=web-eu`,
	})
	fields := p.addFields(cmd, claimFields(), false)
	cmd.RunE = p.verb(func(ctx context.Context, _ []string) error {
		doc := map[string]any{"spec": map[string]any{}}
		if err := checkClaim(cmd); err != nil {
			return err
		}
		if err := fields.into(cmd, doc); err != nil {
			return err
		}
		s, err := p.inProject()
		if err != nil {
			return err
		}
		body, err := marshal(doc)
		if err != nil {
			return err
		}
		a, err := s.ask(ctx, request{method: http.MethodPost, path: s.in("claim-explanations"), body: body})
		if err != nil {
			return err
		}
		return p.showExplanation(a.body)
	})
	return cmd
}

// showExplanation prints what was decided: a sentence, the steps, and below them what would help.
func (p *program) showExplanation(doc json.RawMessage) error {
	switch p.flags.output {
	case formatJSON, formatYAML:
		return p.document(doc)
	}
	var e client.ClaimExplanation
	if err := json.Unmarshal(doc, &e); err != nil {
		return fmt.Errorf("cannot read the server's answer: %w", err)
	}
	if p.flags.quiet || p.flags.output == formatName {
		if e.AllocatedCIDR == "" {
			p.remark("%s", clean(e.Detail))
			return nil
		}
		return p.lines([]string{e.AllocatedCIDR})
	}
	var b bytes.Buffer
	b.WriteString(decisionText(e))
	if len(e.Steps) > 0 {
		b.WriteByte('\n')
		b.Write(tableOf(p, stepColumns(), e.Steps))
	}
	if len(e.Remedies) > 0 {
		b.WriteByte('\n')
		b.Write(tableOf(p, remedyColumns(), e.Remedies))
	}
	return p.write(b.Bytes())
}

// decisionText is what was decided, in a line or two.
func decisionText(e client.ClaimExplanation) string {
	text := string(e.Outcome)
	if e.Code != "" {
		text += " (" + string(e.Code) + ")"
	}
	text += ": " + e.Detail
	if e.Outcome == client.ClaimOutcomeBound && e.ReclaimPolicy != "" {
		text += " Reclaim policy: " + string(e.ReclaimPolicy) + "."
	}
	return clean(text) + "\n"
}

func stepColumns() []column[client.DecisionStep] {
	type T = client.DecisionStep
	return []column[T]{
		{title: "OUTCOME", cell: func(t T) string { return string(t.Outcome) }},
		{title: "KIND", cell: func(t T) string { return string(t.Kind) }},
		{title: "NAME", cell: func(t T) string { return t.Name }},
		{title: "CODE", wide: true, cell: func(t T) string { return string(t.Code) }},
		{title: "WHY", cell: func(t T) string { return t.Detail }},
	}
}

func remedyColumns() []column[client.Remedy] {
	type T = client.Remedy
	return []column[T]{
		{title: "WHAT WOULD HELP", cell: func(t T) string { return t.Detail }},
		{title: "FLAG", cell: remedyFlag},
	}
}

// remedyFlag is a remedy in terms of flags, as far as it is one.
func remedyFlag(r client.Remedy) string {
	flag, known := map[string]string{
		"/spec/className": "--class", "/spec/poolRef": "--pool", "/spec/poolSelector": "--selector", "/spec/allocationRef": "--allocation",
		"/spec/prefixLength": "--prefix-length", "/spec/cidr": "--cidr", "/spec/address": "--address", "/spec/ipFamily": "--family",
		"/spec/reclaimPolicy": "--reclaim-policy",
	}[strings.TrimSuffix(r.Pointer, "/name")]
	switch role, scoped := strings.CutPrefix(r.Pointer, "/spec/scope/"); {
	case scoped:
		return "--scope " + role + "=" + firstOf(r.Value, "...")
	case known && r.Value != "":
		return flag + " " + r.Value
	case known:
		return flag
	default:
		return strings.TrimSpace(r.Pointer + " " + r.Value)
	}
}
