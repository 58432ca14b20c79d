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
	get := getVerb(p, projectView(), within, complete, read)
	get.Args = names("project", 1, -1) // a project is in no other
	return group("project", "Tenants: everything else belongs to one", []string{"projects"},
		p.projectCreate(),
		p.projectSet(complete),
		p.projectList(within),
		get,
		p.deleteVerb(removal{
			kind: "project", args: names("project", 1, -1), within: within, complete: complete, read: read,
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

func (p *program) projectSet(complete completion) *cobra.Command {
	var f changing
	var displayName, description string
	cmd := &cobra.Command{
		Use:   "set NAME [--display-name TEXT] [--description TEXT] [--label KEY=VALUE]...",
		Short: "Change what is said of a project: its names for people, its labels",
		Long:  "Changes what is given and leaves the rest; an empty text takes a text away. The name of a project never changes.",
		Example: `  ipamctl project set team-a --display-name 'Team A' --label unit=shops
  ipamctl project set team-a --description '' --label old-`,
		Args:              names("project", 1, 1),
		ValidArgsFunction: complete,
		SuggestFor:        wordsForSet,
	}
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		m := f.from(cmd.Flags())
		m.put("display-name", displayName, "spec", "displayName")
		m.put("description", description, "spec", "description")
		return set(ctx, p, projectView(), p.session, cmd, m, args[0], func(ctx context.Context, r resource, doc []byte) (*http.Response, error) {
			return r.api.PatchProjectWithApplicationMergePatchPlusJSONBody(ctx, r.name,
				&client.PatchProjectParams{DryRun: f.dry(), IfMatch: f.etag()}, doc)
		})
	})
	f.add(cmd)
	cmd.Flags().StringVar(&displayName, "display-name", "", "`TEXT`: its name for people")
	cmd.Flags().StringVar(&description, "description", "", "`TEXT`: what it is for")
	return cmd
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
