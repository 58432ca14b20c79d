package kinds

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// scopeGroup returns the commands for the pools that were carved for a class's scopes.
func scopeGroup(p *session.Program) *cobra.Command {
	return verbs.Group("scope", "Pools for the project's scopes of a class with poolPer", []string{"scopes"}, scopePut(p), scopeList(p))
}

func scopePut(p *session.Program) *cobra.Command {
	var w verbs.Replacing
	cmd := &cobra.Command{
		Use:   "put CLASS [SCOPE]",
		Short: "Create the pool of a scope before the first claim, or get the existing one",
		Long: `Carves the pool of a scope as the scope's first claim would, or returns the existing one. A scope is a list of role=value, separated
by commas. Omit it for a class with one pool for each project.`,
		Example: "  ipamctl class scope put pods node=worker-7",
		Args:    verbs.Arguments("a class, and a scope", 1, 2, func(string) error { return nil }),
	}
	verbs.AddDryRun(&w.Writing, cmd)
	cmd.RunE = p.Verb(func(ctx context.Context, args []string) error {
		if err := session.CheckName("class", args[0]); err != nil {
			return err
		}
		scope := "-"
		if len(args) > 1 {
			if scope = args[1]; scope == "" || scope == "." || scope == ".." {
				return exit.Usagef("a scope must be a list of role=value, separated by commas")
			}
		}
		s, err := p.InProject()
		if err != nil {
			return err
		}
		put := session.Request{Method: http.MethodPut, Path: s.In("classes", args[0], "scopes", scope), Query: w.Query()}
		a, err := s.Change(ctx, put, "pool was carved")
		if err != nil {
			return err
		}
		if a.Status == http.StatusOK {
			s.Remark("the scope has a pool already")
		}
		return show.One(p.Printer, poolView(), a.Body)
	})
	return cmd
}

func scopeList(p *session.Program) *cobra.Command {
	return verbs.Kind{P: p, View: poolView()}.SubListVerb(&cobra.Command{
		Use: "list CLASS", Aliases: []string{"ls"}, Short: "List the pools of the project's scopes of a class",
		Args: verbs.Names("class", 1, 1),
	}, func(s *session.Session, args []string) ([]string, session.Query) {
		return s.In("classes", args[0], "scopes"), nil
	})
}
