package verbs

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// asked limits the projects that the command reads concurrently.
const asked = 8

// everywhere adds a column for the project to a kind's view.
func everywhere(v show.View) show.View {
	project, name := show.ProjectOf(v.Object), v.Name
	v.Name = func(object any) string { return project(object) + "/" + name(object) }
	v.Columns = append([]show.Column{{Title: "PROJECT", Cell: project}}, v.Columns...)
	return v
}

// addEverywhere adds the flag --all-projects to a list command, if the objects belong to projects.
func (k Kind) addEverywhere(cmd *cobra.Command) *bool {
	all := new(bool)
	if k.In != "" {
		cmd.Flags().BoolVarP(all, "all-projects", "A", false, "list all projects that you may see")
	}
	return all
}

// listEverywhere lists a kind in all projects.
func (k Kind) listEverywhere(ctx context.Context, cmd *cobra.Command, q session.Query) error {
	for _, flag := range []string{"watch", "limit", "cursor", "project"} {
		if f := cmd.Flags().Lookup(flag); f != nil && f.Changed {
			return exit.Usagef("--all-projects does not work with --%s", flag)
		}
	}
	s, err := k.P.Session()
	if err != nil {
		return err
	}
	projects, err := s.Pages(ctx, session.Paging{}, s.Fetch([]string{"projects"}, nil))
	if err != nil {
		return err
	}
	named, err := show.Decode[client.Project](projects.Items)
	if err != nil {
		return err
	}
	lists := make([][]json.RawMessage, len(named))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(asked)
	for i, project := range named {
		group.Go(func() (err error) {
			there := *s
			there.Project = project.Metadata.Name
			if lists[i], err = k.own(ctx, &there, q); err != nil {
				err = exit.About("project "+there.Project, err)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	all := show.Page{Items: []json.RawMessage{}}
	for _, list := range lists {
		all.Items = append(all.Items, list...)
	}
	return show.List(k.P.Printer, everywhere(k.View), all)
}

// own returns the objects that belong to a project. It omits other projects' shared objects.
func (k Kind) own(ctx context.Context, s *session.Session, q session.Query) (own []json.RawMessage, err error) {
	page, err := s.Pages(ctx, session.Paging{}, s.Fetch(k.list(s), q))
	if err != nil {
		return nil, err
	}
	type located struct{ Metadata struct{ Project string } }
	where, err := show.Decode[located](page.Items)
	for i, w := range where {
		if project := w.Metadata.Project; project == "" || project == s.Project {
			own = append(own, page.Items[i])
		}
	}
	return own, err
}
