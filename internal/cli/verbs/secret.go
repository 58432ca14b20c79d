package verbs

import (
	"encoding/json"
	"fmt"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Secret describes a new object's secret. The server returns it only once.
type Secret struct {
	Word   string // the word for the secret, which is also the document's field
	Remove string // the verb that removes the object
}

// check refuses the format that has no secret.
func (x *Secret) check(p *session.Program) error {
	if x != nil && p.Output == show.FormatName && !p.Quiet {
		return exit.Usagef("-o name does not show the %s, and no later command can: use --quiet for the %[1]s alone, or another format", x.Word)
	}
	return nil
}

// showOnce prints a new object with its secret. If the response has no secret, because it repeats an earlier one, showOnce returns an error.
func showOnce(s *session.Session, view show.View, doc json.RawMessage, w session.Writing, x Secret) error {
	object, err := view.Decode(doc)
	if err != nil {
		return err
	}
	fields, err := show.Read[map[string]any](doc)
	if err != nil {
		return err
	}
	secret, _ := fields[x.Word].(string)
	switch {
	case secret == "" && !w.DryRun:
		return fmt.Errorf("an earlier request created %[1]s %[2]s, and only its response contained the %[3]s. "+
			"%[4]s the %[1]s and create another one: ipamctl %[1]s %[5]s %[2]s -p %[6]s",
			view.Kind, view.Name(object), x.Word, show.Capital(x.Remove), x.Remove, s.Project)
	case s.Quiet && secret == "":
		return nil // print nothing, because the output's reader expects only a secret
	case s.Quiet && !s.Structured():
		return s.Lines([]string{secret})
	}
	if err := show.One(s.Printer, view, doc); err != nil || secret == "" {
		return err
	}
	if s.Tabular() {
		if err := s.Lines([]string{"", secret}); err != nil {
			return err
		}
	}
	s.Remark("keep the %s now: the server does not store it, and no command shows it again", x.Word)
	return nil
}
