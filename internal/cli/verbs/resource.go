package verbs

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/session"
)

// Resource is one object that an argument names, with a session in its project.
type Resource struct {
	*session.Session
	Name  string
	said  string          // the argument as typed
	match string          // the required revision; "" allows any revision
	doc   json.RawMessage // the document that was read; nil if it was not read
}

// Refs checks that the arguments have the form name or project/name, as the columns of tables print them. A most of -1 allows any number.
func Refs(kind string, least, most int) cobra.PositionalArgs {
	return Arguments("the name of a "+kind, least, most, func(a string) error { return session.CheckRef(kind, a) })
}

// Resources returns the objects that the arguments name. The project is the part before the slash. If an argument has no slash, it is in the project
// of within. If every argument has a project, Resources does not call within.
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
