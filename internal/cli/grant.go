package cli

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

// granted is what a grant is of: a pool or a space of the project.
type granted struct{ pool, space string }

func (g *granted) add(p *program, cmd *cobra.Command) {
	cmd.Flags().StringVar(&g.pool, "pool", "", "the `POOL` that is granted")
	cmd.Flags().StringVar(&g.space, "space", "", "or: the `SPACE` that is granted")
	completeFlag(cmd, "pool", p.completePools())
	completeFlag(cmd, "space", p.completeSpaces())
}

// check refuses what is not one name of the project's own: a foreign pool is granted by its owner.
func (g *granted) check() error {
	switch {
	case g.pool != "" && g.space != "":
		return usagef("a grant of which? Give --pool or --space, not both")
	case g.pool != "":
		return checkName("pool", g.pool)
	case g.space != "":
		return checkName("space", g.space)
	default:
		return usagef("a grant of what? Give --pool or --space")
	}
}

// within is a session in the project, once the flags were checked.
func (g *granted) within(p *program) func() (*session, error) {
	return func() (*session, error) {
		if err := g.check(); err != nil {
			return nil, err
		}
		return p.inProject()
	}
}

// grants is the kind of the grants of the pool or the space that flags name.
func (g *granted) grants(p *program) kind[client.Grant] {
	return kind[client.Grant]{p: p, view: grantView(), args: consumers, home: home{g.within(p), func(s *session) []string {
		if g.pool != "" {
			return s.in("pools", g.pool, "grants")
		}
		return s.in("spaces", g.space, "grants")
	}}}
}

func (p *program) grantCommand() *cobra.Command {
	var listed, removed granted
	list := listed.grants(p).listVerb("Lists to whom a pool or a space of the project was granted; * is every project.")
	listed.add(p, list)
	remove := removed.grants(p).deleteVerb(removal{
		use: "remove CONSUMER...", done: "removed",
		long: "Takes grants back: new uses are refused at once, unless another grant allows them; '*' is a grant of its own. Blocks that are\n" +
			"held stay with their claims.",
	})
	removed.add(p, remove)
	return group("grant", "Which other projects may use a pool or a space", []string{"grants"}, list, p.grantAdd(), remove)
}

func (p *program) grantAdd() *cobra.Command {
	var g granted
	var w replacing
	cmd := &cobra.Command{
		Use:   "add CONSUMER... (--pool POOL | --space SPACE)",
		Short: "Let projects use a pool or a space",
		Long: `Lets each consumer, the name of a project or '*' for every project, claim from the pool, or carve root pools from the
space. A pool is open to them only while its visibility is shared. Nobody is told whether such a project exists, and a grant
that is there already is left as it is.`,
		Example:           "  ipamctl grant add team-a team-b --pool shared-eu -p platform\n  ipamctl grant add '*' --space internet -p platform",
		Args:              consumers,
		ValidArgsFunction: p.projects().complete(),
		RunE: p.verb(func(ctx context.Context, args []string) error {
			s, err := g.within(p)()
			if err != nil {
				return err
			}
			return s.grant(ctx, g, w, args)
		}),
	}
	g.add(p, cmd)
	w.addDryRun(cmd)
	return cmd
}

// grant makes one grant after the other, up to the first that is refused.
func (s *session) grant(ctx context.Context, g granted, w replacing, consumers []string) error {
	made := page{}
	var refused error
	for _, consumer := range consumers {
		a, err := g.grants(s.program).put(ctx, s, consumer, w, nil, "")
		if err != nil {
			refused = err
			if len(consumers) > 1 {
				refused = about("grant to "+consumer, err)
			}
			break
		}
		if a.status == http.StatusOK && !w.dryRun {
			s.remark("the grant to %s was there already", consumer)
		}
		made.Items = append(made.Items, a.body)
	}
	if len(made.Items) > 0 {
		if err := several(s.program, grantView(), made.Items); err != nil {
			return err
		}
	}
	if refused == nil {
		s.hintClosed(ctx, g.pool)
	}
	return refused
}

// hintClosed says that a pool is not open to those it was granted to. That is no error: the visibility may be changed next. When the pool cannot be read,
// nothing is said.
func (s *session) hintClosed(ctx context.Context, pool string) {
	if pool == "" || s.flags.quiet {
		return
	}
	found, err := s.ask(ctx, get(s.in("pools", pool)...))
	if err != nil {
		return
	}
	var is client.IPPool
	if err := json.Unmarshal(found.body, &is); err != nil || is.Spec.Visibility == client.PoolVisibilityShared {
		return
	}
	s.remark("the grant has no effect while the visibility of pool %s is %s: 'ipamctl pool set %s --visibility shared' opens it", pool, is.Spec.Visibility, pool)
}

func grantView() view[client.Grant] {
	type T = client.Grant
	return view[T]{
		kind: "grant",
		name: func(t T) string { return t.Metadata.Name },
		columns: []column[T]{
			{title: "CONSUMER", cell: func(t T) string { return t.Spec.Consumer }},
			{title: "GRANTED", cell: func(t T) string { at := t.Metadata.CreatedAt; return timeText(&at) }},
			{title: "GRANTED BY", cell: func(t T) string { return t.Metadata.CreatedBy }},
			{title: "UID", wide: true, cell: func(t T) string { return t.Metadata.UID }},
		},
	}
}
