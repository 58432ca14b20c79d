package verbs

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/session"
)

// Resource is one thing that an argument names, with a session in its project.
type Resource struct {
	*session.Session
	Name  string
	said  string          // the argument as typed
	match string          // the required revision; "": any
	doc   json.RawMessage // as read; nil: not read
}

// Refs checks that arguments are names, or project/name as columns print them; -1 is any number.
func Refs(kind string, least, most int) cobra.PositionalArgs {
	return Arguments("the name of a "+kind, least, most, func(a string) error { return session.CheckRef(kind, a) })
}

// Resources returns the things that arguments name, in the project before the slash, or else in the project of within. If every argument has a
// project, it does not call within.
func Resources(p *session.Program, within func() (*session.Session, error), args []string) ([]Resource, error) {
	open := p.Session
	for _, a := range args {
		if !strings.Contains(a, "/") {
			open = within
		}
	}
	s, err := open()
	if err != nil {
		return nil, err
	}
	out := make([]Resource, len(args))
	for i, a := range args {
		out[i] = Resource{Session: s, Name: a, said: a}
		if project, name, foreign := strings.Cut(a, "/"); foreign {
			there := *s
			there.Project = project
			out[i].Session, out[i].Name = &there, name
		}
	}
	return out, nil
}
