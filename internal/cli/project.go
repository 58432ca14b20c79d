package cli

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) projectCommand() *cobra.Command {
	within := p.session
	complete := p.completeProjects()
	read := func(ctx context.Context, s *session, name string) (*http.Response, error) {
		return s.api.GetProject(ctx, name)
	}
	return group("project", "Tenants: everything else belongs to one", []string{"projects"},
		p.projectCreate(),
		p.projectList(within),
		getVerb(p, projectView(), within, complete, read),
		p.deleteVerb(removal{
			kind: "project", within: within, complete: complete, read: read,
			long: "Deletes empty projects, with their space 'default'.",
			send: func(ctx context.Context, s *session, name string, d deleting) (*http.Response, error) {
				return s.api.DeleteProject(ctx, name, &client.DeleteProjectParams{DryRun: d.dry(), IfMatch: d.match()})
			},
		}),
	)
}

func (p *program) projectCreate() *cobra.Command {
	var c creating
	var spec client.ProjectSpec
	cmd := &cobra.Command{
		Use:               "create NAME",
		Short:             "Create a project, with its space 'default'",
		Args:              names("project", 0, 1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.verb(func(ctx context.Context, args []string) error {
			meta, err := c.metadata("project", args)
			if err != nil {
				return err
			}
			s, err := p.session()
			if err != nil {
				return err
			}
			a, err := s.createProject(ctx, c.writing, client.ProjectCreate{Metadata: meta, Spec: &spec})
			if err != nil {
				return err
			}
			return one(p, projectView(), a.body)
		}),
	}
	c.add(cmd)
	cmd.Flags().StringVar(&spec.DisplayName, "display-name", "", "`TEXT`: its name for people")
	cmd.Flags().StringVar(&spec.Description, "description", "", "`TEXT`: what it is for")
	return cmd
}

func (s *session) createProject(ctx context.Context, w writing, body client.ProjectCreate) (answer, error) {
	return s.post(ctx, w, func(ctx context.Context, dry *client.DryRun, key *client.IdempotencyKey) (*http.Response, error) {
		return s.api.CreateProject(ctx, &client.CreateProjectParams{DryRun: dry, IdempotencyKey: key}, body)
	})
}

func (p *program) projectList(within func() (*session, error)) *cobra.Command {
	var selector string
	return listVerb(p, projectView(), "", within,
		func(cmd *cobra.Command) { selectorFlag(cmd, &selector, "projects") },
		func(s *session) (fetch, error) {
			return func(ctx context.Context, ask asking) (*http.Response, error) {
				return s.api.ListProjects(ctx, &client.ListProjectsParams{
					LabelSelector: optional[client.LabelSelectorFilter](selector), Limit: ask.limit, Cursor: ask.cursor, Consistency: ask.consistency,
				})
			}, nil
		})
}

// selectorFlag adds the filter on labels, whose syntax is the server's to judge.
func selectorFlag(cmd *cobra.Command, into *string, kinds string) {
	cmd.Flags().StringVarP(into, "selector", "l", "", "only "+kinds+" with such `LABELS`: 'a=b,c!=d,e in (f,g),!h'")
}
