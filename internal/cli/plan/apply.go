package plan

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/kinds"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// What apply did, or would do, about one thing of the plan.
const (
	actionCreated   = "created"
	actionToCreate  = "to create" // dry run
	actionUnchanged = "unchanged"
	actionDiffers   = "differs"
)

// step is what became of one thing of the plan.
type step struct {
	Action string `json:"action"`
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	CIDR   string `json:"cidr,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// Command is `apply`.
func Command(p *session.Program) *cobra.Command {
	var path string
	var dry bool
	cmd := &cobra.Command{
		Use:   "apply -f PLAN",
		Short: "Create what an address plan has and the server has not",
		Long: `Reads an address plan, YAML or JSON (docs/ipamctl.md describes it, examples/plan.yaml is one), and creates the project,
the spaces, the classes and the pools that do not exist. What exists is compared with the plan and left as it is; apply never changes
and never deletes. A plan that cannot be meant is refused before anything is sent, with the places. It may run again and again, also after it was interrupted.

--project overrides the project that the plan names; CARVE_PROJECT does not. Exit code 4: something that exists differs from the plan.`,
		Args: verbs.Names("", 0, 0),
		RunE: p.Verb(func(ctx context.Context, _ []string) error {
			text, err := p.Read(path)
			if err != nil {
				return exit.Usagef("cannot read the file: %v", err)
			}
			plan, err := readPlan(path, text)
			if err != nil {
				return err
			}
			if p.Flags.Project == "" {
				p.Flags.Project = plan.Project.Name // before the environment: the plan is the nearer wish
			}
			s, err := p.InProject()
			if err != nil {
				return err
			}
			return apply(ctx, s, plan, dry)
		}),
	}
	cmd.Flags().StringVarP(&path, "file", "f", "", "`PLAN` to read, - for standard input")
	verbs.Required(cmd, "file")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what is missing or differs, and create nothing")
	return cmd
}

// apply goes through the plan from the outside in. The first refusal ends it, because what comes later may stand on what
// was refused; what was done until then is shown.
func apply(ctx context.Context, s *session.Session, plan plan, dry bool) error {
	a := applying{Session: s, dry: dry}
	failed := a.run(ctx, plan)
	if err := showSteps(s, a.steps); err != nil {
		return err
	}
	if failed != nil {
		if exit.CodeOf(failed) == exit.Unavailable {
			s.Note("run it again: what was created is left as it is")
		}
		return failed
	}
	if n := a.differing(); n > 0 {
		s.Note("differing from the plan: %s; apply changes nothing that exists", show.CountOf(n, "thing"))
		return exit.Verdict(exit.Conflict)
	}
	return nil
}

// showSteps prints what was done.
func showSteps(s *session.Session, steps []step) error {
	docs := make([]json.RawMessage, len(steps))
	for i, st := range steps {
		doc, err := show.Marshal(st)
		if err != nil {
			return err
		}
		docs[i] = doc
	}
	whole, err := show.Marshal(show.Page{Items: docs})
	if err != nil {
		return err
	}
	return show.Show(s.Printer, show.View[step]{
		Name: func(t step) string { return t.Name },
		Columns: []show.Column[step]{
			{Title: "ACTION", Cell: func(t step) string { return t.Action }},
			{Title: "KIND", Cell: func(t step) string { return t.Kind }},
			{Title: "NAME", Cell: func(t step) string { return t.Name }},
			{Title: "CIDR", Cell: func(t step) string { return t.CIDR }},
			{Title: "DETAIL", Cell: func(t step) string { return t.Detail }},
		},
	}, docs, whole, false)
}

// applying is one run of apply.
type applying struct {
	*session.Session
	dry   bool
	steps []step
}

func (a *applying) run(ctx context.Context, plan plan) error {
	exists, err := a.applyProject(ctx, plan.Project)
	if err != nil {
		return err
	}
	spaces, err := existing(ctx, a, kinds.Spaces(a.Program), exists)
	if err != nil {
		return err
	}
	for _, want := range plan.Spaces {
		if err := ensure(ctx, a, kinds.Spaces(a.Program), spaces, want.Name, "", want.create(), want.compare); err != nil {
			return err
		}
	}
	// A class of the platform that has the name of one of the plan is another class.
	own := kinds.Classes(a.Program)
	own.Name = func(c client.IPClass) string {
		return strings.TrimPrefix(c.Metadata.Project+"/"+c.Metadata.Name, a.Project+"/")
	}
	classes, err := existing(ctx, a, own, exists && len(plan.Classes) > 0)
	if err != nil {
		return err
	}
	for _, want := range plan.Classes {
		if err := ensure(ctx, a, own, classes, want.Name, "", want.create(), want.compare); err != nil {
			return err
		}
	}
	pools, err := existing(ctx, a, kinds.Pools(a.Program), exists)
	if err != nil {
		return err
	}
	return a.applyPools(ctx, pools, plan.Pools, "")
}

// existing are the things of a kind that are there, by name.
func existing[T any](ctx context.Context, a *applying, k verbs.Kind[T], look bool) (map[string]T, error) {
	there := map[string]T{}
	if !look {
		return there, nil
	}
	found, _, err := k.Every(ctx, a.Session, nil)
	for _, t := range found {
		there[k.Name(t)] = t
	}
	return there, err
}

// ensure creates one thing of the plan, or compares the one that is there.
func ensure[T any](ctx context.Context, a *applying, k verbs.Kind[T], there map[string]T, name, cidr string, create any, compare func(T) verbs.Differences) error {
	did := step{Action: actionToCreate, Kind: k.Kind, Name: name, CIDR: cidr}
	is, found := there[name]
	switch {
	case found:
		did.Action, did.Detail = actionUnchanged, compare(is).String()
		if did.Detail != "" {
			did.Action = actionDiffers
		}
	case a.dry:
	default:
		created, err := k.Create(ctx, a.Session, session.Writing{Again: true}, nil, create)
		if err != nil {
			return exit.About(k.Kind+" "+name, err)
		}
		made, err := show.Decode[T]([]json.RawMessage{created.Body})
		if err != nil {
			return err
		}
		did.Action, is, found = actionCreated, made[0], true
	}
	if found && k.Cidr != nil {
		did.CIDR = k.Cidr(is)
	}
	a.steps = append(a.steps, did)
	return nil
}

// applyProject reports whether the project exists now; in a dry run it may not.
func (a *applying) applyProject(ctx context.Context, want planProject) (exists bool, err error) {
	k := kinds.Projects(a.Program)
	there := map[string]client.Project{}
	found, err := k.Ask(ctx, a.Session, a.Project)
	switch {
	case err == nil:
		is, err := show.Decode[client.Project]([]json.RawMessage{found.Body})
		if err != nil {
			return false, err
		}
		there[a.Project] = is[0]
	case exit.CodeOf(err) != exit.NotFound:
		return false, err
	}
	return len(there) > 0 || !a.dry, ensure(ctx, a, k, there, a.Project, "", want.create(a.Project), want.compare)
}

// applyPools creates what is missing below a parent, depth first; parent is empty for roots.
func (a *applying) applyPools(ctx context.Context, there map[string]client.IPPool, wanted []planPool, parent string) error {
	for _, want := range wanted {
		compare := func(is client.IPPool) verbs.Differences { return want.compare(parent, a.Project, is) }
		if err := ensure(ctx, a, kinds.Pools(a.Program), there, want.Name, want.CIDR, want.create(parent), compare); err != nil {
			return err
		}
		if err := a.applyPools(ctx, there, want.Pools, want.Name); err != nil {
			return err
		}
	}
	return nil
}

func (a *applying) differing() int {
	n := 0
	for _, s := range a.steps {
		if s.Action == actionDiffers {
			n++
		}
	}
	return n
}
