package cli

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
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

func (p *program) applyCommand() *cobra.Command {
	var path string
	var dry bool
	cmd := &cobra.Command{
		Use:   "apply -f PLAN",
		Short: "Create what an address plan has and the server has not",
		Long: `Reads an address plan, YAML or JSON (docs/ipamctl.md describes it, examples/plan.yaml is one), and creates the project,
the spaces, the classes and the pools that do not exist. What exists is compared with the plan and left as it is; apply never changes
and never deletes. A plan that cannot be meant is refused before anything is sent, with the places. It may run again and again, also after it was interrupted.

--project overrides the project that the plan names; CARVE_PROJECT does not. Exit code 4: something that exists differs from the plan.`,
		Args: names("", 0, 0),
		RunE: p.verb(func(ctx context.Context, _ []string) error {
			text, err := p.read(path)
			if err != nil {
				return usagef("cannot read the file: %v", err)
			}
			plan, err := readPlan(path, text)
			if err != nil {
				return err
			}
			if p.flags.project == "" {
				p.flags.project = plan.Project.Name // before the environment: the plan is the nearer wish
			}
			s, err := p.inProject()
			if err != nil {
				return err
			}
			return s.apply(ctx, plan, dry)
		}),
	}
	cmd.Flags().StringVarP(&path, "file", "f", "", "`PLAN` to read, - for standard input")
	required(cmd, "file")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what is missing or differs, and create nothing")
	return cmd
}

// apply goes through the plan from the outside in. The first refusal ends it, because what comes later may stand on what
// was refused; what was done until then is shown.
func (s *session) apply(ctx context.Context, plan plan, dry bool) error {
	a := applying{session: s, dry: dry}
	failed := a.run(ctx, plan)
	if err := s.showSteps(a.steps); err != nil {
		return err
	}
	if failed != nil {
		if exitCodeOf(failed) == exitUnavailable {
			s.note("run it again: what was created is left as it is")
		}
		return failed
	}
	if n := a.differing(); n > 0 {
		s.note("differing from the plan: %s; apply changes nothing that exists", counted(n, "thing"))
		return verdict(exitConflict)
	}
	return nil
}

// showSteps prints what was done.
func (s *session) showSteps(steps []step) error {
	docs := make([]json.RawMessage, len(steps))
	for i, st := range steps {
		doc, err := marshal(st)
		if err != nil {
			return err
		}
		docs[i] = doc
	}
	whole, err := marshal(page{Items: docs})
	if err != nil {
		return err
	}
	return show(s.program, view[step]{
		name: func(t step) string { return t.Name },
		columns: []column[step]{
			{title: "ACTION", cell: func(t step) string { return t.Action }},
			{title: "KIND", cell: func(t step) string { return t.Kind }},
			{title: "NAME", cell: func(t step) string { return t.Name }},
			{title: "CIDR", cell: func(t step) string { return t.CIDR }},
			{title: "DETAIL", cell: func(t step) string { return t.Detail }},
		},
	}, docs, whole, false)
}

// applying is one run of apply.
type applying struct {
	*session
	dry   bool
	steps []step
}

func (a *applying) run(ctx context.Context, plan plan) error {
	exists, err := a.applyProject(ctx, plan.Project)
	if err != nil {
		return err
	}
	spaces, err := existing(ctx, a, a.spaces(), exists)
	if err != nil {
		return err
	}
	for _, want := range plan.Spaces {
		if err := apply(ctx, a, a.spaces(), spaces, want.Name, "", want.create(), want.compare); err != nil {
			return err
		}
	}
	// A class of the platform that has the name of one of the plan is another class.
	own := a.classes()
	own.name = func(c client.IPClass) string {
		return strings.TrimPrefix(c.Metadata.Project+"/"+c.Metadata.Name, a.project+"/")
	}
	classes, err := existing(ctx, a, own, exists && len(plan.Classes) > 0)
	if err != nil {
		return err
	}
	for _, want := range plan.Classes {
		if err := apply(ctx, a, own, classes, want.Name, "", want.create(), want.compare); err != nil {
			return err
		}
	}
	pools, err := existing(ctx, a, a.pools(), exists)
	if err != nil {
		return err
	}
	return a.applyPools(ctx, pools, plan.Pools, "")
}

// existing are the things of a kind that are there, by name.
func existing[T any](ctx context.Context, a *applying, k kind[T], look bool) (map[string]T, error) {
	there := map[string]T{}
	if !look {
		return there, nil
	}
	found, _, err := k.every(ctx, a.session, nil)
	for _, t := range found {
		there[k.name(t)] = t
	}
	return there, err
}

// apply creates one thing of the plan, or compares the one that is there.
func apply[T any](ctx context.Context, a *applying, k kind[T], there map[string]T, name, cidr string, create any, compare func(T) differences) error {
	did := step{Action: actionToCreate, Kind: k.kind, Name: name, CIDR: cidr}
	is, found := there[name]
	switch {
	case found:
		did.Action, did.Detail = actionUnchanged, compare(is).String()
		if did.Detail != "" {
			did.Action = actionDiffers
		}
	case a.dry:
	default:
		created, err := k.create(ctx, a.session, writing{again: true}, nil, create)
		if err != nil {
			return about(k.kind+" "+name, err)
		}
		made, err := decode[T]([]json.RawMessage{created.body})
		if err != nil {
			return err
		}
		did.Action, is, found = actionCreated, made[0], true
	}
	if found && k.cidr != nil {
		did.CIDR = k.cidr(is)
	}
	a.steps = append(a.steps, did)
	return nil
}

// applyProject reports whether the project exists now; in a dry run it may not.
func (a *applying) applyProject(ctx context.Context, want planProject) (exists bool, err error) {
	k := a.projects()
	there := map[string]client.Project{}
	found, err := k.ask(ctx, a.session, a.project)
	switch {
	case err == nil:
		is, err := decode[client.Project]([]json.RawMessage{found.body})
		if err != nil {
			return false, err
		}
		there[a.project] = is[0]
	case exitCodeOf(err) != exitNotFound:
		return false, err
	}
	return len(there) > 0 || !a.dry, apply(ctx, a, k, there, a.project, "", want.create(a.project), want.compare)
}

// applyPools creates what is missing below a parent, depth first; parent is empty for roots.
func (a *applying) applyPools(ctx context.Context, there map[string]client.IPPool, wanted []planPool, parent string) error {
	for _, want := range wanted {
		compare := func(is client.IPPool) differences { return want.compare(parent, a.project, is) }
		if err := apply(ctx, a, a.pools(), there, want.Name, want.CIDR, want.create(parent), compare); err != nil {
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
