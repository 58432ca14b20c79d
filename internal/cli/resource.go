package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// resource is one thing that an argument names: its name, and a session in the project that has it.
type resource struct {
	*session
	name string
	said string // the argument as it was typed
}

// refs checks that arguments are names, or project/name as columns print them; -1 is any number.
func refs(kind string, least, most int) cobra.PositionalArgs {
	return arguments("the name of a "+kind, least, most, func(a string) error {
		project, name, foreign := strings.Cut(a, "/")
		if !foreign {
			return checkName(kind, a)
		}
		if !nameRE.MatchString(project) || !nameRE.MatchString(name) {
			return usagef("%q is not the name of a %s: that is a name, or project/name of another project's", a, kind)
		}
		return nil
	})
}

// resources are what arguments name: things of the project of within, or of the project before the slash. Where every argument says
// which project, no other has to be known.
func (p *program) resources(within func() (*session, error), args []string) ([]resource, error) {
	open := p.session
	for _, a := range args {
		if !strings.Contains(a, "/") {
			open = within
		}
	}
	s, err := open()
	if err != nil {
		return nil, err
	}
	out := make([]resource, len(args))
	for i, a := range args {
		out[i] = resource{session: s, name: a, said: a}
		if project, name, foreign := strings.Cut(a, "/"); foreign {
			there := *s
			there.project = project
			out[i].session, out[i].name = &there, name
		}
	}
	return out, nil
}
