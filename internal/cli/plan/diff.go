package plan

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func diffCommand(p *session.Program) *cobra.Command {
	var o options
	return o.command(p, &cobra.Command{
		Use:   "diff -f PLAN",
		Short: "Show how an address space differs from a plan",
		Long: `Shows the steps of 'ipamctl apply': + creates, ~ changes, - deletes (with --prune), ! differs in a field that apply cannot change. It
writes nothing. The exit code is 0 without differences, and 4 with differences.`,
	}, func(_ context.Context, r *run) error {
		if err := r.showDifferences(); err != nil {
			return err
		}
		if r.count(actionUnchanged) < len(r.steps) {
			return exit.Verdict(exit.Conflict)
		}
		return nil
	})
}

func planCommand(p *session.Program) *cobra.Command {
	var o options
	cmd := o.command(p, &cobra.Command{
		Use:   "plan -f PLAN --out FILE",
		Short: "Save the steps of apply, to run exactly these later",
		Long: `Shows the same as 'ipamctl diff', and saves the steps to a file. 'ipamctl apply -f FILE' then runs exactly these steps, or refuses with
exit code 4 if an object of the plan has changed in the meantime. The file contains the plan, the requests and the revisions of the
objects. It saves no steps that the server would refuse, such as claims that do not fit.`,
		Example: `  ipamctl plan -f plan.yaml --out plan.saved
  ipamctl apply -f plan.saved`,
	}, func(ctx context.Context, r *run) error {
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
	cmd.Flags().StringVar(&o.out, "out", "", "`FILE` to write")
	verbs.Required(cmd, "out")
	return cmd
}

// signs maps an action to the sign before its line.
var signs = map[string]string{actionToCreate: "+", actionToChange: "~", actionToDelete: "-", actionDiffers: "!"}

// showDifferences prints the planned steps. Below each object it prints the fields that differ.
func (r *run) showDifferences() error {
	changing := slices.DeleteFunc(slices.Clone(r.steps), func(st step) bool { return st.Action == actionUnchanged })
	names := func() []string { return show.WordsOf(changing, func(st step) string { return st.Name }) }
	return r.Report(map[string]any{"items": changing}, names, func() error {
		var b strings.Builder
		for _, st := range changing {
			sign := signs[st.Action]
			b.WriteString(r.Coloured(sign, show.Clean(show.Words(sign, st.Kind, st.Name, st.CIDR))) + "\n")
			st.printFields(r.Printer, &b)
		}
		b.WriteString(r.summary() + "\n")
		return r.Write([]byte(b.String()))
	})
}

// printFields prints the lines below an object. These lines show the object's new fields, its changes, or the reason why it cannot be changed.
func (st step) printFields(p *show.Printer, b *strings.Builder) {
	line := func(sign, text string) { b.WriteString("    " + p.Coloured(sign, show.Clean(sign+" "+text)) + "\n") }
	switch st.Action {
	case actionToCreate:
		_, all := merged("", st.fields, object{}, object{})
		for _, c := range all {
			if c.Field != "metadata.name" && !strings.HasSuffix(c.Field, annotationFields) && !strings.HasSuffix(c.Field, labelOfPlan) {
				line("+", c.name()+": "+valueText(c.To))
			}
		}
	case actionDiffers:
		line("!", st.Detail)
	case actionToChange:
		for _, c := range st.Changes {
			if c.From != nil {
				line("-", c.name()+": "+valueText(c.From))
			}
			if c.To != nil {
				line("+", c.name()+": "+valueText(c.To))
			}
		}
	}
}
