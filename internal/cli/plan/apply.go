package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

type options struct {
	paths    []string
	prune    bool
	dry      bool
	yes      bool
	parallel int
	out      string // output file for plan
}

// Commands returns the commands `apply`, `diff` and `plan`.
func Commands(p *session.Program) []*cobra.Command {
	return []*cobra.Command{applyCommand(p), diffCommand(p), planCommand(p)}
}

func applyCommand(p *session.Program) *cobra.Command {
	var o options
	cmd := o.command(p, &cobra.Command{
		Use:   "apply -f PLAN",
		Short: "Create and change an address space to match a plan",
		Long: `Reads an address plan, YAML or JSON (docs/plans.md describes plans, examples/plan.yaml is an example). It creates the missing project,
spaces, classes, pools and claims, and changes existing objects that differ. It ignores fields that the plan does not contain. It does
not change fixed fields, such as the block of a pool: it reports the difference and exits with 4. You can run it repeatedly, also after
an interruption. Several files (-f A -f B) form one plan.

A plan with a name ('plan: NAME') owns the objects that it creates and the fields that it sets. If the plan no longer contains a field,
apply restores the default. If it no longer contains an object, --prune deletes the object, after a confirmation.

PLAN can be a file that 'ipamctl plan --out' wrote. Apply runs exactly its steps, or refuses if the objects have changed.

--project overrides the project in the plan; CARVE_PROJECT does not.`,
		Example: `  ipamctl diff -f plan.yaml
  ipamctl apply -f plan.yaml
  ipamctl apply -f plan.yaml --prune --dry-run`,
	}, func(ctx context.Context, r *run) error { return r.apply(ctx, o) })
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "show the steps, and ask the server whether it would grant the claims; change nothing")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "delete without a confirmation")
	cmd.Flags().IntVar(&o.parallel, "parallel", 8, "number of pools to create at the same time")
	return cmd
}

// command adds the flags that the three commands share. The command compares the plan with the server and then calls do.
func (o *options) command(p *session.Program, cmd *cobra.Command, do func(context.Context, *run) error) *cobra.Command {
	cmd.Args = verbs.Names("", 0, 0)
	cmd.Flags().StringArrayVarP(&o.paths, "file", "f", nil, "`PLAN` to read, - for standard input (repeatable; several files form one plan)")
	verbs.Required(cmd, "file")
	cmd.Flags().BoolVar(&o.prune, "prune", false, "delete objects that the plan of this name created and no longer contains")
	cmd.RunE = p.Verb(func(ctx context.Context, _ []string) error {
		r, err := begin(ctx, p, *o)
		if err != nil {
			return err
		}
		return do(ctx, r)
	})
	return cmd
}

// run is one invocation of apply, diff or plan.
type run struct {
	*session.Session
	text  json.RawMessage // the plan
	steps []step
	prune bool
}

// begin reads a plan and compares it with the server.
func begin(ctx context.Context, p *session.Program, o options) (*run, error) {
	r, name := &run{prune: o.prune}, nameOf(o.paths)
	var texts [][]byte
	for _, path := range o.paths {
		text, err := p.Read(path)
		if err != nil {
			return nil, exit.Usagef("cannot read the file: %v", err)
		}
		texts = append(texts, text)
	}
	saved, isSaved, err := savedAmong(o.paths, texts)
	if err != nil {
		return nil, err
	}
	if isSaved {
		if o.prune && !saved.Prune {
			return nil, exit.Usagef("%s was saved without --prune: save it again with --prune", name)
		}
		texts[0], r.prune = saved.Plan, saved.Prune
	}
	plan, text, err := readPlans(o.paths, texts)
	if err != nil {
		return nil, err
	}
	r.text = text
	if r.prune && plan.Name == "" {
		return nil, exit.Usagef("--prune needs a plan with a name, because it deletes only objects with the label of that plan: add 'plan: NAME' to %s", name)
	}
	if p.Flags.Project == "" {
		p.Flags.Project = show.FirstOf(saved.Project, plan.Project.Name) // this takes precedence over the environment variable
	}
	if r.Session, err = p.InProject(); err != nil {
		return nil, err
	}
	steps, err := stepsOf(plan, r.Project)
	if err != nil {
		return nil, err
	}
	there, err := readWorld(ctx, r.Session, steps, r.prune)
	if err != nil {
		return nil, err
	}
	if r.steps, err = decide(r.Project, plan.Name, steps, there, r.prune); err != nil {
		return nil, err
	}
	if isSaved {
		return r, saved.sameAs(name, r)
	}
	return r, nil
}

// apply carries out the plan.
func (r *run) apply(ctx context.Context, o options) error {
	t := &stepPrinter{run: r, all: []step{}, rows: show.Stream{Printer: r.Printer, Columns: show.Columns[step](`
		ACTION: action
		KIND: kind
		NAME: name
		CIDR: cidr
		DETAIL: detail`, nil)}}
	t.rows.Reserve(show.Rows(r.reserved(o.dry)))
	if o.dry {
		if err := t.print(r.steps); err != nil {
			return err
		}
		return t.end(r.attempt(ctx))
	}
	if n := r.count(actionToDelete); n > 0 && !o.yes {
		for _, st := range r.steps {
			if st.Action == actionToDelete {
				r.Note("%s %s %s", st.Kind, st.Name, st.CIDR)
			}
		}
		if err := r.Confirm(ctx, show.CountOf(n, "thing")+" would be deleted", "Delete them?"); err != nil {
			return err
		}
	}
	c := &execution{Runner: converge.Runner{Session: r.Session, Parallel: o.parallel}, steps: r.steps, report: t.print}
	return t.end(c.run(ctx))
}

// reserved returns the rows as they are expected at the end. The table makes its columns wide enough for them.
func (r *run) reserved(dry bool) []step {
	rows := slices.Clone(r.steps)
	for i := range rows {
		st := &rows[i]
		if !dry {
			st.Action = show.FirstOf(did[st.Action], st.Action)
		}
		if st.CIDR == "" && !dry && (st.Kind == kindPool || st.Kind == kindClaim) {
			st.CIDR = "255.255.255.255/32"
		}
	}
	return rows
}

// stepPrinter prints finished steps. A table gets its rows at once. Structured output is one document at the end.
type stepPrinter struct {
	*run
	rows show.Stream
	all  []step
}

func (t *stepPrinter) print(done []step) error {
	t.all = append(t.all, done...)
	switch {
	case t.Structured():
		t.Progress("%d of %d done", len(t.all), len(t.steps))
		return nil
	case t.Quiet, t.Output == show.FormatName:
		return t.Lines(show.WordsOf(done, func(st step) string { return st.Name }))
	default:
		return t.rows.Rows(show.Rows(done))
	}
}

func (t *stepPrinter) end(failed error) error {
	if t.Structured() {
		if err := t.DocumentOf(map[string]any{"items": t.all}); err != nil {
			return err
		}
	}
	if failed != nil {
		if exit.CodeOf(failed) == exit.Unavailable {
			t.Note("run it again to continue: existing objects stay as they are")
		}
		return failed
	}
	if n := t.count(actionDiffers); n > 0 {
		t.Note("differences that apply cannot change: %s", show.CountOf(n, "thing"))
		return exit.Verdict(exit.Conflict)
	}
	return nil
}

func (r *run) count(action string) int {
	n := 0
	for _, st := range r.steps {
		if st.Action == action {
			n++
		}
	}
	return n
}

// summary counts the steps by action.
func (r *run) summary() string {
	return fmt.Sprintf("%d to create, %d to change, %d to delete, %d unchanged, %d with differences that apply cannot change",
		r.count(actionToCreate), r.count(actionToChange), r.count(actionToDelete), r.count(actionUnchanged), r.count(actionDiffers))
}
