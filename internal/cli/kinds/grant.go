package kinds

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// granted is the object that a grant is for. It is a pool or a space of the project.
type granted struct{ pool, space string }

func (g *granted) add(p *session.Program, cmd *cobra.Command) {
	cmd.Flags().StringVar(&g.pool, "pool", "", "`POOL` of the grant")
	cmd.Flags().StringVar(&g.space, "space", "", "or `SPACE` of the grant")
	verbs.CompleteFlag(cmd, "pool", verbs.CompletePools(p))
	verbs.CompleteFlag(cmd, "space", verbs.CompleteSpaces(p))
}

// check requires the name of one pool or one space. The name cannot have another project, because only the owner can grant a pool.
func (g *granted) check() error {
	switch {
	case g.pool != "" && g.space != "":
		return exit.Usagef("a grant is for one pool or space: give --pool or --space, not both")
	case g.pool != "":
		return session.CheckName("pool", g.pool)
	case g.space != "":
		return session.CheckName("space", g.space)
	default:
		return exit.Usagef("a grant needs a pool or a space: give --pool or --space")
	}
}

// within returns a function that checks the flags and then opens a session in the project.
func (g *granted) within(p *session.Program) func() (*session.Session, error) {
	return func() (*session.Session, error) {
		if err := g.check(); err != nil {
			return nil, err
		}
		return p.InProject()
	}
}

// grants returns the kind for the grants of the pool or the space in the flags.
func (g *granted) grants(p *session.Program) verbs.Kind[client.Grant] {
	path := func(s *session.Session) []string {
		if g.pool != "" {
			return s.In("pools", g.pool, "grants")
		}
		return s.In("spaces", g.space, "grants")
	}
	return verbs.Kind[client.Grant]{P: p, View: grantView(), Args: verbs.Consumers, Home: verbs.Home{Within: g.within(p), Path: path}}
}

func grantCommand(p *session.Program) *cobra.Command {
	var listed, removed granted
	list := listed.grants(p).ListVerb("Lists the projects with a grant for a pool or a space of the project; * is every project.")
	listed.add(p, list)
	remove := removed.grants(p).DeleteVerb(verbs.Removal{
		Use: "remove CONSUMER...", Done: "removed",
		Long: "Removes grants: the server refuses new uses at once, unless another grant allows them; '*' is a separate grant. Allocated blocks\n" +
			"stay with their claims.",
	})
	removed.add(p, remove)
	return verbs.Group("grant", "Projects that may use a pool or a space of this project", []string{"grants"}, list, grantAdd(p), remove)
}

func grantAdd(p *session.Program) *cobra.Command {
	var g granted
	var w verbs.Replacing
	cmd := &cobra.Command{
		Use:   "add CONSUMER... (--pool POOL | --space SPACE)",
		Short: "Let projects use a pool or a space",
		Long: `Lets each consumer claim from the pool, or carve root pools from the space. A consumer is the name of a project, or '*' for every
project. A pool needs the visibility 'shared' too. The server does not reveal whether a project exists; ipamctl prints a hint if you
cannot see a project of that name. An existing grant stays as it is.`,
		Example:           "  ipamctl grant add team-a team-b --pool shared-eu -p platform\n  ipamctl grant add '*' --space internet -p platform",
		Args:              verbs.Consumers,
		ValidArgsFunction: Projects(p).Complete(),
		RunE: p.Verb(func(ctx context.Context, args []string) error {
			s, err := g.within(p)()
			if err != nil {
				return err
			}
			return grant(ctx, s, g, w, args)
		}),
	}
	g.add(p, cmd)
	verbs.AddDryRun(&w.Writing, cmd)
	return cmd
}

// grant makes one grant after the other. It stops at the first refusal.
func grant(ctx context.Context, s *session.Session, g granted, w verbs.Replacing, consumers []string) error {
	made := show.Page{}
	var refused error
	for _, consumer := range consumers {
		a, err := g.grants(s.Program).Put(ctx, s, consumer, w, nil, "")
		if err != nil {
			refused = err
			if len(consumers) > 1 {
				refused = exit.About("grant to "+consumer, err)
			}
			break
		}
		if a.Status == http.StatusOK && !w.DryRun {
			s.Remark("the grant to %s exists already", consumer)
		}
		made.Items = append(made.Items, a.Body)
	}
	if len(made.Items) > 0 {
		if err := show.SomeOf(s.Printer, grantView(), made.Items, len(made.Items)); err != nil {
			return err
		}
	}
	if refused == nil {
		hintClosed(ctx, s, g.pool)
		hintInvisible(ctx, s, consumers)
	}
	return refused
}

// hintInvisible notes the consumers that are no projects that the caller can see. The server does not reveal whether a project exists that the caller
// cannot see, so this is no error.
func hintInvisible(ctx context.Context, s *session.Session, consumers []string) {
	if s.Quiet {
		return
	}
	for _, consumer := range consumers {
		if consumer == everyProject {
			continue
		}
		if _, err := s.Ask(ctx, session.Get("projects", consumer)); exit.CodeOf(err) == exit.NotFound {
			s.Remark("no project %s is visible to you: check the name. If you create the project later, grant again, because its creation ends grants to its name", consumer)
		}
	}
}

// everyProject is the consumer of a grant to every project.
const everyProject = "*"

// hintClosed notes that a granted pool is not open to the grantees. This is no error: the visibility may change next. It prints nothing if it cannot
// read the pool.
func hintClosed(ctx context.Context, s *session.Session, pool string) {
	if pool == "" || s.Quiet {
		return
	}
	found, err := s.Ask(ctx, session.Get(s.In("pools", pool)...))
	if err != nil {
		return
	}
	var is client.IPPool
	if err := json.Unmarshal(found.Body, &is); err != nil || is.Spec.Visibility == client.PoolVisibilityShared {
		return
	}
	s.Remark("the grant has no effect while the visibility of pool %s is %s: 'ipamctl pool set %s --visibility shared' opens it", pool, is.Spec.Visibility, pool)
}

func grantView() show.View[client.Grant] {
	type T = client.Grant
	return show.View[T]{
		Kind: "grant",
		Name: func(t T) string { return t.Metadata.Name },
		Columns: []show.Column[T]{
			{Title: "CONSUMER", Cell: func(t T) string { return t.Spec.Consumer }},
			{Title: "GRANTED", Cell: func(t T) string { at := t.Metadata.CreatedAt; return show.TimeText(&at) }},
			{Title: "GRANTED BY", Cell: func(t T) string { return t.Metadata.CreatedBy }},
			{Title: "UID", Wide: true, Cell: func(t T) string { return t.Metadata.UID }},
		},
	}
}
