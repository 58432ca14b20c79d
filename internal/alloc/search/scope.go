package search

import (
	"context"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// searchScope contains the projects in which a search runs.
type searchScope struct {
	projects      []ipam.Project // at most maxProjects, by name
	allProjects   bool           // the caller is a platform admin and may see everything; a search for an address then covers all projects
	singleProject bool           // the text names a project, and the search covers only this project
	truncated     bool           // more projects exist
}

// scope returns the projects that a caller may search, and the text to search for. If the text is `project/text`, it selects this project and returns
// the part after the slash. It checks permissions against the latest committed data. It does not look up a project in which the caller has no role.
func (s *Searches) scope(ctx context.Context, who tenancy.Principal, text string) (in searchScope, rest string, err error) {
	in.allProjects, rest = who.PlatformAdmin(), text
	_, block := blockOf(text)
	name, of, cut := strings.Cut(text, "/")
	switch names := who.Projects(); {
	case cut && !block && ipam.ValidName(name):
		in.singleProject, rest = true, of
		if in.allProjects || who.RoleIn(name) != "" {
			in.projects, err = s.Store.ProjectListNamed(ctx, []string{name})
		}
	case in.allProjects && !block:
		in.projects, err = s.Store.ProjectList(ctx, "", maxProjects+1)
	case !in.allProjects && len(names) > 0:
		in.projects, err = s.Store.ProjectListNamed(ctx, names)
	}
	in.projects = slices.DeleteFunc(in.projects, func(p ipam.Project) bool { return who.RoleByID(storage.Key(p)) == "" })
	if len(in.projects) > maxProjects {
		in.projects, in.truncated = in.projects[:maxProjects], true
	}
	return in, rest, err
}

func (in searchScope) ids() []ipam.ID {
	ids := make([]ipam.ID, len(in.projects))
	for i, p := range in.projects {
		ids[i] = p.UID
	}
	return ids
}

// name returns the project's name for an id. It returns "" if the scope does not contain the project.
func (in searchScope) name(id ipam.ID) string {
	if i := slices.IndexFunc(in.projects, func(p ipam.Project) bool { return p.UID == id }); i >= 0 {
		return in.projects[i].Name
	}
	return ""
}

// shows reports whether the caller may see a project's resources. A result must not contain the claim names of other projects.
func (in searchScope) shows(id ipam.ID) bool { return in.allProjects || in.name(id) != "" }
