package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func diffCommand(p *session.Program) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "diff -f PLAN",
		Short: "Show how an address space differs from a plan",
		Long: `Shows the steps of 'ipamctl apply': + creates, ~ changes, - deletes (with --prune), ! differs in a field that apply cannot change. It
writes nothing. The exit code is 0 without differences, and 4 with differences.`,
		Args: verbs.Names("", 0, 0),
	}
	o.add(cmd)
	cmd.RunE = p.Verb(func(ctx context.Context, _ []string) error {
		r, err := begin(ctx, p, o)
		if err != nil {
			return err
		}
		if err := r.showDifferences(); err != nil {
			return err
		}
		if r.count(actionUnchanged) < len(r.steps) {
			return exit.Verdict(exit.Conflict)
		}
		return nil
	})
	return cmd
}

func planCommand(p *session.Program) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "plan -f PLAN --out FILE",
		Short: "Save the steps of apply, to run exactly these later",
		Long: `Shows the same as 'ipamctl diff', and saves the steps to a file. 'ipamctl apply -f FILE' then runs exactly these steps, or refuses with
exit code 4 if an object of the plan has changed in the meantime. The file contains the plan, the requests and the revisions of the
objects. It saves no steps that the server would refuse, such as claims that do not fit.`,
		Example: `  ipamctl plan -f plan.yaml --out plan.saved
  ipamctl apply -f plan.saved`,
		Args: verbs.Names("", 0, 0),
	}
	o.add(cmd)
	cmd.Flags().StringVar(&o.out, "out", "", "`FILE` to write")
	verbs.Required(cmd, "out")
	cmd.RunE = p.Verb(func(ctx context.Context, _ []string) error {
		r, err := begin(ctx, p, o)
		if err != nil {
			return err
		}
		if err := r.showDifferences(); err != nil {
			return err
		}
		if err := r.attempt(ctx); err != nil {
			return err
		}
		if err := r.save(o.out); err != nil {
			return err
		}
		r.Remark("apply it with: ipamctl apply -f %s", o.out)
		return nil
	})
	return cmd
}

// signs maps an action to the sign before its line.
var signs = map[string]string{actionToCreate: "+", actionToChange: "~", actionToDelete: "-", actionDiffers: "!"}

// showDifferences prints the planned steps. Below each object it prints the fields that differ.
func (r *run) showDifferences() error {
	if r.Structured() || r.Quiet || r.Output == show.FormatName {
		changing := []step{}
		for _, st := range r.steps {
			if st.Action != actionUnchanged {
				changing = append(changing, st)
			}
		}
		if !r.Structured() {
			return r.Lines(show.WordsOf(changing, func(st step) string { return st.Name }))
		}
		return r.DocumentOf(map[string]any{"items": changing})
	}
	var b strings.Builder
	for _, st := range r.steps {
		if st.Action == actionUnchanged {
			continue
		}
		sign := signs[st.Action]
		line := sign + " " + st.Kind + " " + st.Name
		if st.CIDR != "" {
			line += " " + st.CIDR
		}
		b.WriteString(r.Coloured(sign, show.Clean(line)) + "\n")
		st.fields(r.Printer, &b)
	}
	b.WriteString(r.summary() + "\n")
	return r.Write([]byte(b.String()))
}

// fields prints the lines below an object. They are its new fields, its changes, or the reason why it cannot be changed.
func (st step) fields(p *show.Printer, b *strings.Builder) {
	line := func(sign, text string) { b.WriteString("    " + p.Coloured(sign, show.Clean(sign+" "+text)) + "\n") }
	switch st.Action {
	case actionToCreate:
		var doc object
		_ = json.Unmarshal(st.body, &doc) // the plan contains this document, so it is valid
		_, all := merged("", doc, object{}, object{})
		for _, c := range all {
			if name := strings.TrimPrefix(c.Field, "metadata."); name != "name" && !strings.HasSuffix(name, annotationFields) && !strings.HasSuffix(name, labelOfPlan) {
				line("+", fmt.Sprintf("%s: %s", strings.TrimPrefix(name, "spec."), valueText(c.To)))
			}
		}
	case actionDiffers:
		line("!", st.Detail)
	case actionToChange:
		for _, c := range st.Changes {
			name := strings.TrimPrefix(strings.TrimPrefix(c.Field, "metadata."), "spec.")
			if c.From != nil {
				line("-", name+": "+valueText(c.From))
			}
			if c.To != nil {
				line("+", name+": "+valueText(c.To))
			}
		}
	}
}
