package kinds

import (
	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// spaces returns the kind for spaces.
func spaces(p *session.Program) verbs.Kind {
	return verbs.Kind{
		P: p, In: "spaces", Short: "Routing domains: blocks in one space never overlap",
		View: show.ViewOf[client.Space]("space", `
			NAME: metadata.name
			PHASE: status.phase
			DESCRIPTION: spec.description`+labelled, nil),
		Fields:  verbs.Described,
		Filters: []verbs.Field{verbs.SelectorFilter("spaces")},
		Get:     true,
		Create:  &verbs.Writer{Short: "Create an empty space"},
		Set: &verbs.Writer{
			Use:   "set NAME [--description TEXT] [--label KEY=VALUE]...",
			Short: "Change the description and the labels of a space",
			Long:  "Changes the given fields only; an empty text removes a text. The name of a space never changes.",
			Example: `  ipamctl space set lab --description 'Repeats addresses of production on purpose'
  ipamctl space set lab --label env=lab --label old-`,
		},
		Delete: &verbs.Removal{Many: verbs.ByLabels, Long: "Deletes spaces without pools."},
	}
}
