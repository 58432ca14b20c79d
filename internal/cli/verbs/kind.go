// Package verbs has the command-line code that all kinds share: their descriptions, verbs, flags, arguments and completion.
package verbs

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Kind describes one kind. Group makes its commands from it.
type Kind struct {
	show.View
	P       *session.Program
	Short   string   // the group's help text
	Aliases []string // words for the group in addition to the plural
	Arg     Naming

	// In is the collection in the project's path. A kind in another place has Within and Path instead.
	In     string
	Within func() (*session.Session, error)
	Path   func(s *session.Session) []string // returns the list's path
	// Read reads one object. If it is nil, the kind sends a GET for the object's path.
	Read func(ctx context.Context, s *session.Session, name string) (session.Answer, error)

	Fields []Field
	Flags  func(cmd *cobra.Command) // adds flags to the list and to the commands about existing objects without a Writer; may be nil
	Feed   client.ChangeKind        // the name in the change feed; "" if it does not contain the kind
	Fed    Fed
	// Nameless objects have generated names, which users do not type. The shell does not propose these names.
	Nameless bool

	ListHelp string  // the list's long help text
	Filters  []Field // the list's flags that set query parameters
	// Get and Show add the verbs with these names. A verb without a description does not exist.
	Get, Show   bool
	Create, Set *Writer
	Delete      *Removal
}

// Naming describes the argument that names an object. The zero value is for name or project/name.
type Naming struct {
	Word, What string // the word in the usage, and a phrase for errors
	Check      func(arg string) error
}

// Group returns the kind's command with its verbs and with the verbs in more.
func (k Kind) Group(more ...*cobra.Command) *cobra.Command {
	more = append(more, k.listVerb())
	if k.Get {
		more = append(more, k.getVerb())
	}
	if k.Show {
		more = append(more, k.showVerb())
	}
	if k.Create != nil {
		more = append(more, k.createVerb(*k.Create))
	}
	if k.Set != nil {
		more = append(more, k.setVerb(*k.Set))
	}
	if k.Delete != nil {
		more = append(more, k.deleteVerb(*k.Delete))
	}
	name := strings.ReplaceAll(k.Kind, " ", "-")
	return Group(name, k.Short, append([]string{show.Plural(name)}, k.Aliases...), more...)
}

// Open opens the session for the kind's requests.
func (k Kind) Open() (*session.Session, error) {
	if k.Within != nil {
		return k.Within()
	}
	return k.P.InProject()
}

// list returns the list's path.
func (k Kind) list(s *session.Session) []string {
	if k.Path != nil {
		return k.Path(s)
	}
	return s.In(k.In)
}

// at returns an object's path.
func (k Kind) at(s *session.Session, name string) []string { return append(k.list(s), name) }

// Every reads all of a kind's objects in a project. It returns them decoded and as JSON.
func Every[T any](ctx context.Context, k Kind, s *session.Session, filters session.Query) ([]T, []json.RawMessage, error) {
	l, err := s.Pages(ctx, session.Paging{}, s.Fetch(k.list(s), filters))
	if err != nil {
		return nil, nil, err
	}
	items, err := show.Decode[T](l.Items)
	return items, l.Items, err
}

// Ask reads one object.
func (k Kind) Ask(ctx context.Context, s *session.Session, name string) (session.Answer, error) {
	if k.Read != nil {
		return k.Read(ctx, s, name)
	}
	return s.Ask(ctx, session.Get(k.at(s, name)...))
}

// Named checks the arguments for a command about existing objects. A maximum of -1 allows any number.
func (k Kind) Named(maximum int) cobra.PositionalArgs {
	if k.Arg.Check == nil {
		return Refs(k.Kind, 1, maximum)
	}
	return Arguments(k.Arg.What, 1, maximum, k.Arg.Check)
}

// Local returns the naming for a kind whose objects belong to no project.
func Local(kind string) Naming {
	return Naming{What: "the name of a " + kind, Check: func(arg string) error { return session.CheckName(kind, arg) }}
}

// use returns the usage for a verb about existing objects.
func (k Kind) use(verb string) string {
	return verb + " " + show.FirstOf(k.Arg.Word, "NAME") + "..."
}

// Command completes a command about existing objects, and adds the kind's flags.
func (k Kind) Command(cmd *cobra.Command) *cobra.Command {
	if cmd.Args == nil {
		cmd.Args, cmd.ValidArgsFunction = k.Named(-1), k.Complete()
	}
	if k.Flags != nil {
		k.Flags(cmd)
	}
	return cmd
}
