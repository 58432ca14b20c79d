package cli

import (
	"context"
	"encoding/json"
	"net/http"

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
	_ = cmd.MarkFlagRequired("file") // it is there, in the line above
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
	pools map[string]client.IPPool // that exist, by name
}

func (a *applying) run(ctx context.Context, plan plan) error {
	exists, err := a.applyProject(ctx, plan.Project)
	if err != nil {
		return err
	}
	if err := a.applySpaces(ctx, plan.Spaces, exists); err != nil {
		return err
	}
	if err := a.applyClasses(ctx, plan.Classes, exists); err != nil {
		return err
	}
	a.pools = map[string]client.IPPool{}
	if exists {
		all, err := a.fetchPools(poolFilters{})
		if err != nil {
			return err
		}
		found, _, err := every[client.IPPool](ctx, a.session, all)
		if err != nil {
			return err
		}
		for _, p := range found {
			a.pools[p.Metadata.Name] = p
		}
	}
	return a.applyPools(ctx, plan.Pools, "")
}

// applyProject reports whether the project exists now; in a dry run it may not.
func (a *applying) applyProject(ctx context.Context, want planProject) (exists bool, err error) {
	found, err := a.ask(ctx, func(ctx context.Context) (*http.Response, error) { return a.api.GetProject(ctx, a.project) })
	switch {
	case err == nil:
		got, err := decode[client.Project]([]json.RawMessage{found.body})
		if err != nil {
			return false, err
		}
		a.compared("project", a.project, "", want.compare(got[0]))
		return true, nil
	case exitCodeOf(err) != exitNotFound:
		return false, err
	case a.dry:
		a.add(actionToCreate, "project", a.project, "")
		return false, nil
	}
	if _, err := a.createProject(ctx, writing{again: true}, want.create(a.project)); err != nil {
		return false, err
	}
	a.add(actionCreated, "project", a.project, "")
	return true, nil
}

func (a *applying) applySpaces(ctx context.Context, wanted []planSpace, exists bool) error {
	there := map[string]client.Space{}
	if exists {
		found, _, err := every[client.Space](ctx, a.session, a.fetchSpaces(""))
		if err != nil {
			return err
		}
		for _, s := range found {
			there[s.Metadata.Name] = s
		}
	}
	for _, want := range wanted {
		got, found := there[want.Name]
		switch {
		case found:
			a.compared("space", want.Name, "", want.compare(got))
		case a.dry:
			a.add(actionToCreate, "space", want.Name, "")
		default:
			if _, err := a.createSpace(ctx, writing{again: true}, want.create()); err != nil {
				return err
			}
			a.add(actionCreated, "space", want.Name, "")
		}
	}
	return nil
}

// applyPools creates what is missing below a parent, depth first; parent is empty for roots.
func (a *applying) applyPools(ctx context.Context, wanted []planPool, parent string) error {
	for _, want := range wanted {
		got, found := a.pools[want.Name]
		switch {
		case found:
			a.compared("pool", want.Name, got.Status.AllocatedCIDR, want.compare(parent, a.project, got))
		case a.dry:
			a.add(actionToCreate, "pool", want.Name, want.CIDR)
		default:
			created, err := a.createPool(ctx, writing{again: true}, want.create(parent))
			if err != nil {
				return about("pool "+want.Name, err)
			}
			pool, err := decode[client.IPPool]([]json.RawMessage{created.body})
			if err != nil {
				return err
			}
			a.add(actionCreated, "pool", want.Name, pool[0].Status.AllocatedCIDR)
		}
		if err := a.applyPools(ctx, want.Pools, want.Name); err != nil {
			return err
		}
	}
	return nil
}

func (a *applying) add(action, kind, name, cidr string) {
	a.steps = append(a.steps, step{Action: action, Kind: kind, Name: name, CIDR: cidr})
}

// compared notes a thing that exists.
func (a *applying) compared(kind, name, cidr string, d differences) {
	a.add(actionUnchanged, kind, name, cidr)
	if len(d) > 0 {
		last := &a.steps[len(a.steps)-1]
		last.Action, last.Detail = actionDiffers, d.String()
	}
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
