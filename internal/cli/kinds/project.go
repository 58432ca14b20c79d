package kinds

import (
	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// projects returns the kind for projects. A project does not belong to another project.
func projects(p *session.Program) verbs.Kind {
	return verbs.Kind{
		P: p, Short: "Tenants, which own all other objects",
		Within: p.Session,
		Path:   func(*session.Session) []string { return []string{"projects"} },
		Arg:    verbs.Local("project"),
		View: show.ViewOf[client.Project]("project", `
			NAME: metadata.name
			PHASE: status.phase
			DISPLAY NAME: spec.displayName
			DESCRIPTION: spec.description, wide`+labelled, nil),
		Fields:  append(verbs.Described[:3:3], verbs.Field{Flag: "display-name", Usage: "`TEXT` to display as its name"}),
		Filters: []verbs.Field{verbs.SelectorFilter("projects")},
		Get:     true,
		Create:  &verbs.Writer{Short: "Create a project, with its space 'default'"},
		Set: &verbs.Writer{
			Use:   "set NAME [--display-name TEXT] [--description TEXT] [--label KEY=VALUE]...",
			Short: "Change the display name, the description and the labels of a project",
			Long:  "Changes the given fields only; an empty text removes a text. The name of a project never changes.",
			Example: `  ipamctl project set team-a --display-name 'Team A' --label unit=shops
  ipamctl project set team-a --description '' --label old-`,
		},
		Delete: &verbs.Removal{Long: "Deletes empty projects, with their space 'default'."},
	}
}
