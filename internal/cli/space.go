package cli

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) spaceCommand() *cobra.Command {
	within := p.inProject
	complete := p.completeSpaces()
	read := func(ctx context.Context, s *session, name string) (*http.Response, error) {
		return s.api.GetSpace(ctx, s.project, name)
	}
	return group("space", "Routing domains: inside one nothing overlaps", []string{"spaces"},
		p.spaceCreate(),
		p.spaceSet(complete),
		p.spaceList(within),
		getVerb(p, spaceView(), within, complete, read),
		p.deleteVerb(removal{
			kind: "space", within: within, complete: complete, read: read,
			long: "Deletes spaces that no root pool is carved from.",
			send: func(ctx context.Context, s *session, name string, d deleting) (*http.Response, error) {
				return s.api.DeleteSpace(ctx, s.project, name, &client.DeleteSpaceParams{DryRun: d.dry(), IfMatch: d.match()})
			},
		}),
	)
}

func (p *program) spaceCreate() *cobra.Command {
	var c creating
	var spec client.SpaceSpec
	cmd := &cobra.Command{
		Use:               "create NAME",
		Short:             "Create a space in which nothing is carved yet",
		Args:              names("space", 0, 1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.verb(func(ctx context.Context, args []string) error {
			meta, err := c.metadata("space", args)
			if err != nil {
				return err
			}
			s, err := p.inProject()
			if err != nil {
				return err
			}
			a, err := s.createSpace(ctx, c.writing, client.SpaceCreate{Metadata: meta, Spec: &spec})
			if err != nil {
				return err
			}
			return one(p, spaceView(), a.body)
		}),
	}
	c.add(cmd)
	cmd.Flags().StringVar(&spec.Description, "description", "", "`TEXT`: what it is for")
	return cmd
}

func (s *session) createSpace(ctx context.Context, w writing, body client.SpaceCreate) (answer, error) {
	return s.post(ctx, w, func(ctx context.Context, dry *client.DryRun, key *client.IdempotencyKey) (*http.Response, error) {
		return s.api.CreateSpace(ctx, s.project, &client.CreateSpaceParams{DryRun: dry, IdempotencyKey: key}, body)
	})
}

func (p *program) spaceSet(complete completion) *cobra.Command {
	var f changing
	var description string
	cmd := &cobra.Command{
		Use:   "set NAME [--description TEXT] [--label KEY=VALUE]...",
		Short: "Change what is said of a space: its description, its labels",
		Long:  "Changes what is given and leaves the rest; an empty text takes a text away. The name of a space never changes.",
		Example: `  ipamctl space set lab --description 'Repeats addresses of production on purpose'
  ipamctl space set lab --label env=lab --label old-`,
		Args:              refs("space", 1, 1),
		ValidArgsFunction: complete,
		SuggestFor:        wordsForSet,
	}
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		m := f.from(cmd.Flags())
		m.put("description", description, "spec", "description")
		return set(ctx, p, spaceView(), p.inProject, cmd, m, args[0], func(ctx context.Context, r resource, doc []byte) (*http.Response, error) {
			return r.api.PatchSpaceWithApplicationMergePatchPlusJSONBody(ctx, r.project, r.name,
				&client.PatchSpaceParams{DryRun: f.dry(), IfMatch: f.etag()}, doc)
		})
	})
	f.add(cmd)
	cmd.Flags().StringVar(&description, "description", "", "`TEXT`: what it is for")
	return cmd
}

func (p *program) spaceList(within func() (*session, error)) *cobra.Command {
	var selector string
	return listVerb(p, spaceView(), "", within,
		func(cmd *cobra.Command) { selectorFlag(cmd, &selector, "spaces") },
		func(s *session) (fetch, error) { return s.fetchSpaces(selector), nil })
}

func (s *session) fetchSpaces(selector string) fetch {
	return func(ctx context.Context, ask asking) (*http.Response, error) {
		return s.api.ListSpaces(ctx, s.project, &client.ListSpacesParams{
			LabelSelector: optional[client.LabelSelectorFilter](selector), Limit: ask.limit, Cursor: ask.cursor, Consistency: ask.consistency,
		})
	}
}
