package verbs

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/session"
)

// Resource is one object that an argument names, with a session in its project.
type Resource struct {
	*session.Session
	Name     string
	argument string          // the argument as typed
	match    string          // the required revision; "" allows any revision
	doc      json.RawMessage // the document that was read; nil if it was not read
}

// Refs checks that the arguments have the form name or project/name, as tables print them. A maximum of -1 allows any number.
func Refs(kind string, minimum, maximum int) cobra.PositionalArgs {
	return Arguments("the name of a "+kind, minimum, maximum, func(a string) error { return session.CheckRef(kind, a) })
}

// OnOne returns a cobra RunE function that calls run with the one object that the argument names.
func OnOne(p *session.Program, run func(ctx context.Context, r Resource) error) func(*cobra.Command, []string) error {
	return p.Verb(func(ctx context.Context, args []string) error {
		r, err := first(p, p.InProject, args)
		if err != nil {
			return err
		}
		return run(ctx, r)
	})
}

// first returns the object that the first argument names. Without arguments, its name is empty.
func first(p *session.Program, within func() (*session.Session, error), args []string) (Resource, error) {
	resources, err := Resources(p, within, append(args, "")[:1])
	if err != nil {
		return Resource{}, err
	}
	return resources[0], nil
}

// Resources returns the objects that the arguments name. The project is the part before the slash. An argument without a slash is in the project
// that within opens. If every argument has a project, Resources does not call within.
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
		out[i] = Resource{Session: s, Name: a, argument: a}
		if project, name, foreign := strings.Cut(a, "/"); foreign {
			there := *s
			there.Project = project
			out[i].Session, out[i].Name = &there, name
		}
	}
	return out, nil
}
