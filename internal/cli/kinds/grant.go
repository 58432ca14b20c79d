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

func grantCommand(p *session.Program) *cobra.Command {
	var pool, space string // the granted object
	k := verbs.Kind{
		P: p, Short: "Projects that may use a pool or a space of this project", Arg: verbs.Consumer,
		Within: func() (*session.Session, error) {
			if err := checkGranted(pool, space); err != nil {
				return nil, err
			}
			return p.InProject()
		},
		Path: func(s *session.Session) []string {
			if pool != "" {
				return s.In("pools", pool, "grants")
			}
			return s.In("spaces", space, "grants")
		},
		Flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&pool, "pool", "", "`POOL` of the grant")
			cmd.Flags().StringVar(&space, "space", "", "or `SPACE` of the grant")
			verbs.CompleteFlag(cmd, "pool", verbs.CompletePools(p))
			verbs.CompleteFlag(cmd, "space", verbs.CompleteSpaces(p))
		},
		View: show.ViewOf[client.Grant]("grant", `
			CONSUMER: spec.consumer
			GRANTED: metadata.createdAt
			GRANTED BY: metadata.createdBy
			UID: metadata.uid, wide`, nil),
		ListHelp: "Lists the projects with a grant for a pool or a space of the project; * is every project.",
		Delete: &verbs.Removal{
			Verb: "remove", Done: "removed",
			Long: "Removes grants: the server refuses new uses at once, unless another grant allows them; '*' is a separate grant. Allocated blocks\n" +
				"stay with their claims.",
		},
	}
	var w verbs.Replacing
	add := k.Command(&cobra.Command{
		Use:   "add CONSUMER... (--pool POOL | --space SPACE)",
		Short: "Let projects use a pool or a space",
		Long: `Lets each consumer claim from the pool, or carve root pools from the space. A consumer is the name of a project, or '*' for every
project. A pool needs the visibility 'shared' too. The server does not reveal whether a project exists; ipamctl prints a hint if you
cannot see a project of that name. An existing grant stays as it is.`,
		Example: "  ipamctl grant add team-a team-b --pool shared-eu -p platform\n  ipamctl grant add '*' --space internet -p platform",
		RunE: p.Verb(func(ctx context.Context, args []string) error {
			s, err := k.Open()
			if err != nil {
				return err
			}
			return grant(ctx, k, s, pool, w, args)
		}),
	})
	add.ValidArgsFunction = projects(p).Complete()
	verbs.AddDryRun(&w.Writing, add)
	return k.Group(add)
}

// checkGranted requires one pool name or one space name. The name cannot have another project, because only the owner can grant a pool.
func checkGranted(pool, space string) error {
	switch {
	case pool != "" && space != "":
		return exit.Usagef("a grant is for one pool or space: give --pool or --space, not both")
	case pool != "":
		return session.CheckName("pool", pool)
	case space != "":
		return session.CheckName("space", space)
	default:
		return exit.Usagef("a grant needs a pool or a space: give --pool or --space")
	}
}

// grant makes one grant after the other. It stops at the first refusal.
func grant(ctx context.Context, k verbs.Kind, s *session.Session, pool string, w verbs.Replacing, consumers []string) error {
	var made []json.RawMessage
	var refused error
	for _, consumer := range consumers {
		a, err := k.Put(ctx, s, consumer, w, nil, "")
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
		made = append(made, a.Body)
	}
	if len(made) > 0 {
		if err := show.OneOrList(s.Printer, k.View, made, len(made)); err != nil {
			return err
		}
	}
	if refused == nil && !s.Quiet {
		hintClosed(ctx, s, pool)
		hintInvisible(ctx, s, consumers)
	}
	return refused
}

// hintInvisible notes the consumers that are no projects that the caller can see. The server does not reveal whether a project exists that the caller
// cannot see, so this is no error.
func hintInvisible(ctx context.Context, s *session.Session, consumers []string) {
	for _, consumer := range consumers {
		if consumer == everyProject {
			continue
		}
		if _, err := s.Ask(ctx, session.Get("projects", consumer)); exit.CodeOf(err) == exit.NotFound {
			s.Remark("no project %s is visible to you: check the name. If you create the project later, grant again, because its creation ends grants to its name", consumer)
		}
	}
}

// everyProject is the consumer in a grant to every project.
const everyProject = "*"

// hintClosed notes that a granted pool is not open to the grantees. This is no error: the visibility may change next. It prints nothing if it cannot
// read the pool.
func hintClosed(ctx context.Context, s *session.Session, pool string) {
	if pool == "" {
		return
	}
	is, err := session.Into[client.IPPool](s.Ask(ctx, session.Get(s.In("pools", pool)...)))
	if err != nil || is.Spec.Visibility == client.PoolVisibilityShared {
		return
	}
	s.Remark("the grant has no effect while the visibility of pool %s is %s: 'ipamctl pool set %[1]s --visibility shared' opens it", pool, is.Spec.Visibility)
}
