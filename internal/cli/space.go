package cli

import (
	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) projects() kind[client.Project] {
	return kind[client.Project]{
		view: projectView(), p: p, args: names("project", 1, -1), // a project is in no other
		home: home{p.session, func(*session) []string { return []string{"projects"} }},
		fields: append(labelFields(), description(),
			field{flag: "display-name", path: "spec.displayName", value: text, usage: "`TEXT`: its name for people"}),
	}
}

func (p *program) projectCommand() *cobra.Command {
	k := p.projects()
	set := k.setVerb(&cobra.Command{
		Use:   "set NAME [--display-name TEXT] [--description TEXT] [--label KEY=VALUE]...",
		Short: "Change what is said of a project: its names for people, its labels",
		Long:  "Changes what is given and leaves the rest; an empty text takes a text away. The name of a project never changes.",
		Example: `  ipamctl project set team-a --display-name 'Team A' --label unit=shops
  ipamctl project set team-a --description '' --label old-`,
	}, creation{})
	set.Args = names("project", 1, 1)
	return group("project", "Tenants: everything else belongs to one", []string{"projects"},
		k.createVerb(&cobra.Command{Use: "create NAME", Short: "Create a project, with its space 'default'"}, creation{}),
		set,
		k.listVerb("", selectorFilter("projects")),
		k.getVerb(),
		k.deleteVerb(removal{long: "Deletes empty projects, with their space 'default'."}),
	)
}

func projectView() view[client.Project] {
	type T = client.Project
	return view[T]{
		kind: "project",
		name: func(t T) string { return t.Metadata.Name },
		columns: append([]column[T]{
			{title: "NAME", cell: func(t T) string { return t.Metadata.Name }},
			{title: "PHASE", cell: func(t T) string { return string(t.Status.Phase) }},
			{title: "DISPLAY NAME", cell: func(t T) string { return t.Spec.DisplayName }},
			{title: "DESCRIPTION", wide: true, cell: func(t T) string { return t.Spec.Description }},
		}, metaColumns(func(t T) client.Metadata { return t.Metadata })...),
	}
}

func (p *program) spaces() kind[client.Space] {
	type T = client.Space
	return kind[T]{p: p, home: p.homeOf("spaces"), fields: append(labelFields(), description()), view: view[T]{
		kind: "space",
		name: func(t T) string { return t.Metadata.Name },
		columns: append([]column[T]{
			{title: "NAME", cell: func(t T) string { return t.Metadata.Name }},
			{title: "PHASE", cell: func(t T) string { return string(t.Status.Phase) }},
			{title: "DESCRIPTION", cell: func(t T) string { return t.Spec.Description }},
		}, metaColumns(func(t T) client.Metadata { return t.Metadata })...),
	}}
}

func (p *program) spaceCommand() *cobra.Command {
	k := p.spaces()
	return group("space", "Routing domains: inside one nothing overlaps", []string{"spaces"},
		k.createVerb(&cobra.Command{Use: "create NAME", Short: "Create a space in which nothing is carved yet"}, creation{}),
		k.setVerb(&cobra.Command{
			Use:   "set NAME [--description TEXT] [--label KEY=VALUE]...",
			Short: "Change what is said of a space: its description, its labels",
			Long:  "Changes what is given and leaves the rest; an empty text takes a text away. The name of a space never changes.",
			Example: `  ipamctl space set lab --description 'Repeats addresses of production on purpose'
  ipamctl space set lab --label env=lab --label old-`,
		}, creation{}),
		k.listVerb("", selectorFilter("spaces")),
		k.getVerb(),
		k.deleteVerb(removal{long: "Deletes spaces that no root pool is carved from."}),
	)
}
