package search

import (
	"context"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// scope is where a search looks.
type scope struct {
	projects  []ipam.Project // in order of name, at most maxProjects
	everybody bool           // a platform admin, who is shown everything: an address is looked for in all projects
	only      bool           // the text named the one project
	truncated bool           // there are more projects
}

// scope finds the projects that a caller may search, and what of the text is left to look for: `project/text` means one of them. Who may is decided by
// what was written last. A project that is none of the caller's is not looked for.
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

// ids are those of the projects.
func (in scope) ids() []ipam.ID {
	ids := make([]ipam.ID, len(in.projects))
	for i, p := range in.projects {
		ids[i] = p.UID
	}
	return ids
}

// name is that of a project of an id; "": it is not among them.
func (in scope) name(id ipam.ID) string {
	if i := slices.IndexFunc(in.projects, func(p ipam.Project) bool { return p.UID == id }); i >= 0 {
		return in.projects[i].Name
	}
	return ""
}

// shows reports whether the caller may be told what a project has: a claim of another is not named.
func (in scope) shows(id ipam.ID) bool { return in.everybody || in.name(id) != "" }
