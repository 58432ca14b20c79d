package search

import (
	"context"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// scope is the part of the installation in which a search runs.
type scope struct {
	projects  []ipam.Project // by name, at most maxProjects
	everybody bool           // the caller is a platform admin, who may see everything; a search for an address covers all projects
	only      bool           // the text names a project, and the search covers no other
	truncated bool           // more projects exist
}

// scope returns the projects that a caller may search, and the text to search for. If the text is `project/text`, it selects this project and returns
// the part after the slash. It checks permissions against the latest committed data. It does not look up a project in which the caller has no role.
func (s *Searches) scope(ctx context.Context, who tenancy.Principal, text string) (in scope, rest string, err error) {
	in.everybody, rest = who.PlatformAdmin(), text
	_, block := blockOf(text)
	name, of, cut := strings.Cut(text, "/")
	switch names := who.Projects(); {
	case cut && !block && ipam.ValidName(name):
		in.only, rest = true, of
		if in.everybody || who.RoleIn(name) != "" {
			in.projects, err = s.Store.ProjectListNamed(ctx, []string{name})
		}
	case in.everybody && !block:
		in.projects, err = s.Store.ProjectList(ctx, "", maxProjects+1)
	case !in.everybody && len(names) > 0:
		in.projects, err = s.Store.ProjectListNamed(ctx, names)
	}
	in.projects = slices.DeleteFunc(in.projects, func(p ipam.Project) bool { return who.RoleInThe(storage.Key(p)) == "" })
	if len(in.projects) > maxProjects {
		in.projects, in.truncated = in.projects[:maxProjects], true
	}
	return in, rest, err
}

// ids returns the ids of the projects.
func (in scope) ids() []ipam.ID {
	ids := make([]ipam.ID, len(in.projects))
	for i, p := range in.projects {
		ids[i] = p.UID
	}
	return ids
}

// name returns the name of the project with an id; "" if the scope does not have it.
func (in scope) name(id ipam.ID) string {
	if i := slices.IndexFunc(in.projects, func(p ipam.Project) bool { return p.UID == id }); i >= 0 {
		return in.projects[i].Name
	}
	return ""
}

// shows reports whether the caller may see a project's resources. A result must not contain the names of claims in other projects.
func (in scope) shows(id ipam.ID) bool { return in.everybody || in.name(id) != "" }
