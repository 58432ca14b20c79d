package kinds

import (
	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// Projects returns the kind for projects.
func Projects(p *session.Program) verbs.Kind[client.Project] {
	return verbs.Kind[client.Project]{
		View: projectView(), P: p, Args: verbs.Names("project", 1, -1), // a project does not belong to another project
		Home: verbs.Home{Within: p.Session, Path: func(*session.Session) []string { return []string{"projects"} }},
		Fields: append(verbs.LabelFields(), verbs.Description(),
			verbs.Field{Flag: "display-name", Path: "spec.displayName", Value: verbs.Text, Usage: "`TEXT` to display as its name"}),
	}
}

func projectCommand(p *session.Program) *cobra.Command {
	k := Projects(p)
	set := k.SetVerb(&cobra.Command{
		Use:   "set NAME [--display-name TEXT] [--description TEXT] [--label KEY=VALUE]...",
		Short: "Change the display name, the description and the labels of a project",
		Long:  "Changes the given fields only; an empty text removes a text. The name of a project never changes.",
		Example: `  ipamctl project set team-a --display-name 'Team A' --label unit=shops
  ipamctl project set team-a --description '' --label old-`,
	}, verbs.Creation{})
	set.Args = verbs.Names("project", 1, 1)
	return verbs.Group("project", "Tenants, which own all other objects", []string{"projects"},
		k.CreateVerb(&cobra.Command{Use: "create NAME", Short: "Create a project, with its space 'default'"}, verbs.Creation{}),
		putVerb(k, func(t client.Project) client.Metadata { return t.Metadata }, &cobra.Command{
			Use:     "put NAME",
			Example: "  ipamctl project put team-a --display-name 'Team A'",
		}, verbs.Creation{}),
		set,
		k.ListVerb("", verbs.SelectorFilter("projects")),
		k.GetVerb(),
		k.DeleteVerb(verbs.Removal{Long: "Deletes empty projects, with their space 'default'."}),
	)
}

func projectView() show.View[client.Project] {
	type T = client.Project
	return show.View[T]{
		Kind: "project",
		Name: func(t T) string { return t.Metadata.Name },
		Columns: append([]show.Column[T]{
			{Title: "NAME", Cell: func(t T) string { return t.Metadata.Name }},
			{Title: "PHASE", Cell: func(t T) string { return string(t.Status.Phase) }},
			{Title: "DISPLAY NAME", Cell: func(t T) string { return t.Spec.DisplayName }},
			{Title: "DESCRIPTION", Wide: true, Cell: func(t T) string { return t.Spec.Description }},
		}, metaColumns(func(t T) client.Metadata { return t.Metadata })...),
	}
}

// Spaces returns the kind for spaces.
func Spaces(p *session.Program) verbs.Kind[client.Space] {
	type T = client.Space
	return verbs.Kind[T]{P: p, Home: verbs.HomeOf(p, "spaces"), Fields: append(verbs.LabelFields(), verbs.Description()), View: show.View[T]{
		Kind: "space",
		Name: func(t T) string { return t.Metadata.Name },
		Columns: append([]show.Column[T]{
			{Title: "NAME", Cell: func(t T) string { return t.Metadata.Name }},
			{Title: "PHASE", Cell: func(t T) string { return string(t.Status.Phase) }},
			{Title: "DESCRIPTION", Cell: func(t T) string { return t.Spec.Description }},
		}, metaColumns(func(t T) client.Metadata { return t.Metadata })...),
	}}
}

func spaceCommand(p *session.Program) *cobra.Command {
	k := Spaces(p)
	return verbs.Group("space", "Routing domains: blocks in one space never overlap", []string{"spaces"},
		k.CreateVerb(&cobra.Command{Use: "create NAME", Short: "Create an empty space"}, verbs.Creation{}),
		putVerb(k, func(t client.Space) client.Metadata { return t.Metadata }, &cobra.Command{
			Use:     "put NAME",
			Example: "  ipamctl space put lab --description 'Repeats addresses of production on purpose'",
		}, verbs.Creation{}),
		k.SetVerb(&cobra.Command{
			Use:   "set NAME [--description TEXT] [--label KEY=VALUE]...",
			Short: "Change the description and the labels of a space",
			Long:  "Changes the given fields only; an empty text removes a text. The name of a space never changes.",
			Example: `  ipamctl space set lab --description 'Repeats addresses of production on purpose'
  ipamctl space set lab --label env=lab --label old-`,
		}, verbs.Creation{}),
		k.ListVerb("", verbs.SelectorFilter("spaces")),
		k.GetVerb(),
		k.DeleteVerb(verbs.Removal{Many: verbs.ByLabels, Long: "Deletes spaces without pools."}),
	)
}
