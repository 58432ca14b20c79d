package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/client"
)

// none takes away what a `set` can take away.
const none = "none"

// orNull is a value of a merge patch: `none` is null, which gives a field its default.
func orNull(s string) any {
	if s == none {
		return nil
	}
	return s
}

// changing are the flags of every `set`: what is changed of a thing's labels, and which revision of it.
type changing struct {
	replacing
	labels, annotations pairChanges
}

func (c *changing) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&c.labels, "label", "label to set, or with a dash behind its key to take away (repeatable)")
	f.Var(&c.annotations, "annotation", "annotation to set, or to take away (repeatable)")
	f.BoolVar(&c.dryRun, "dry-run", false, "answer as if it were done, and write nothing")
	f.StringVar(&c.ifMatch, "if-match", "", "change only this revision: the `ETAG`, metadata.revision in double quotes")
}

// etag is the header. Without a revision it is whichever is current: a patch says only what it changes, so that nothing that
// somebody else changed meanwhile is lost.
func (c *changing) etag() *client.IfMatch {
	tag := firstOf(c.ifMatch, "*")
	return &tag
}

// mergePatch is an RFC 7396 document that flags build up; what was not given is not in it.
type mergePatch struct {
	flags *pflag.FlagSet
	doc   map[string]any
}

// from begins a patch with what every `set` can change.
func (c *changing) from(flags *pflag.FlagSet) mergePatch {
	m := mergePatch{flags: flags, doc: map[string]any{}}
	if len(c.labels) > 0 {
		m.put("label", c.labels, "metadata", "labels")
	}
	if len(c.annotations) > 0 {
		m.put("annotation", c.annotations, "metadata", "annotations")
	}
	return m
}

// put writes a value at a path, if its flag was given.
func (m mergePatch) put(flag string, value any, path ...string) {
	if !m.flags.Changed(flag) {
		return
	}
	at := m.doc
	for _, name := range path[:len(path)-1] {
		below, ok := at[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			at[name] = below
		}
		at = below
	}
	at[path[len(path)-1]] = value
}

// json is the document. One that changes nothing was not meant.
func (m mergePatch) json(cmd *cobra.Command) (json.RawMessage, error) {
	if len(m.doc) == 0 {
		return nil, usagef("nothing to set: '%s --help' says what can be changed", cmd.CommandPath())
	}
	return marshal(m.doc)
}

// patch sends a PATCH. One of no revision in particular can be said again: it says how things are to be.
func (s *session) patch(ctx context.Context, what string, send func(ctx context.Context) (*http.Response, error)) (answer, error) {
	a, err := s.ask(ctx, send)
	if err != nil {
		if unsettled(err) {
			return answer{}, fmt.Errorf("%w\nIt is not known whether the %s was changed: run it again, it says how things are to be", err, what)
		}
		return answer{}, err
	}
	s.remarkOn(a)
	return a, nil
}

// pairChanges is a flag of pairs to set (key=value) and to take away (key-).
type pairChanges map[string]*string

// String, Set and Type implement pflag.Value.
func (p *pairChanges) String() string {
	out := make([]string, 0, len(*p))
	for _, key := range slices.Sorted(maps.Keys(*p)) {
		if value := (*p)[key]; value != nil {
			out = append(out, key+"="+*value)
		} else {
			out = append(out, key+"-")
		}
	}
	return strings.Join(out, ",")
}

// Set adds one pair.
func (p *pairChanges) Set(s string) error {
	key, value, found := strings.Cut(s, "=")
	kept := &value
	if bare, away := strings.CutSuffix(s, "-"); !found && away {
		key, kept = bare, nil
	} else if !found {
		key = ""
	}
	if key == "" {
		return fmt.Errorf("must be key=value, or key- to take it away")
	}
	if _, twice := (*p)[key]; twice {
		return fmt.Errorf("sets %s twice", key)
	}
	if *p == nil {
		*p = pairChanges{}
	}
	(*p)[key] = kept
	return nil
}

// Type is what the help calls the value.
func (*pairChanges) Type() string { return "key=value" }
