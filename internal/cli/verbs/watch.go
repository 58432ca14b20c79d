package verbs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/client/follow"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Fed describes how the change feed contains a kind.
type Fed struct {
	// Prefix returns the text before an object's name in the feed. If it is nil, there is no prefix.
	Prefix func() string
	// Own reports whether the feed contains an object from a list or get. OwnText describes the objects that the feed contains. If Own is nil, the feed
	// contains all objects.
	Own     func(s *session.Session, object any) bool
	OwnText string
	// Needs is the flag that limits a list to the objects in the feed. If it is "", no flag is needed.
	Needs string
}

// Interrupted ends a command that runs until the user interrupts it. kubectl has the same exit code for that.
const Interrupted = exit.Verdict(exit.Failed)

// watchWord is the title of the column for the change's type.
const watchWord = "CHANGE"

// addWatch adds the flag --watch to a command, if the change feed contains the kind.
func (k Kind) addWatch(cmd *cobra.Command) *bool {
	watch := new(bool)
	if k.Feed != "" {
		cmd.Flags().BoolVarP(watch, "watch", "w", false, "show each later change too, until interrupted")
	}
	return watch
}

// watchable refuses list flags that the change feed does not support.
func (k Kind) watchable(cmd *cobra.Command) error {
	ways := []string{"a list without --watch"}
	if k.Fed.Needs != "" && !cmd.Flags().Changed(k.Fed.Needs) {
		return exit.Usagef("--watch needs --%s: the feed contains only %s", k.Fed.Needs, k.Fed.OwnText)
	}
	refused := []string{"limit", "cursor", "consistency"}
	for _, f := range k.Filters {
		if f.Flag == "selector" {
			ways = slices.Insert(ways, 0, "--selector")
		} else if f.Flag != k.Fed.Needs {
			refused = append(refused, f.Flag)
		}
	}
	if get, _, err := cmd.Parent().Find([]string{"get"}); err == nil && get.Name() == "get" {
		ways = slices.Insert(ways, 0, "a name ("+get.CommandPath()+" NAME --watch)")
	}
	for _, name := range refused {
		if cmd.Flags().Changed(name) {
			return exit.Usagef("--watch does not work with --%s; use %s", name, strings.Join(ways, ", or "))
		}
	}
	return nil
}

// watching is a running watch.
type watching struct {
	Kind
	s     *session.Session
	named bool // the user named one object
	rows  *show.Stream

	query session.Query              // for requests to the change feed
	last  map[string]json.RawMessage // the last document that was shown, by the object's name
	first []change                   // the existing objects, until the list is complete
	began bool                       // all existing objects are shown
}

// change is one change in the output. In a table, a Delete shows the object's last known state.
type change struct {
	Kind   client.ChangeKind `json:"kind"`
	Name   string            `json:"name"`
	Type   follow.EventType  `json:"type"`
	Object json.RawMessage   `json:"object,omitempty"`

	word   string // the text in the column of watchWord
	object any
}

func (k Kind) watching(s *session.Session, named bool, filters session.Query) *watching {
	w := &watching{Kind: k, s: s, named: named, last: map[string]json.RawMessage{}}
	w.query = append(session.Query{}.With("resourceKind", string(k.Feed)), filters...)
	word := show.Column{Title: watchWord, Cell: show.CellOf(func(c change) string { return c.word })}
	columns := show.Mapped(k.Columns, func(c change) any { return c.object })
	w.rows = &show.Stream{Printer: k.P.Printer, Columns: append([]show.Column{word}, columns...)}
	return w
}

func (w *watching) prefix() string {
	if w.Fed.Prefix == nil {
		return ""
	}
	return w.Fed.Prefix()
}

// watchList shows a list and then the changes to its objects.
func (k Kind) watchList(ctx context.Context, s *session.Session, filters session.Query) error {
	var labels session.Query
	for _, q := range filters {
		if strings.HasPrefix(q, "labelSelector=") {
			labels = append(labels, q)
		}
	}
	w := k.watching(s, false, labels)
	fetch := s.Fetch(k.list(s), filters)
	return w.run(ctx, func(ctx context.Context, at *client.Cursor) (page follow.Page[json.RawMessage], err error) {
		paging := session.Query{"limit=500"}
		if at != nil {
			paging = paging.With("cursor", *at)
		}
		a, err := fetch(ctx, paging)
		if err != nil {
			return page, err
		}
		if err := json.Unmarshal(a.Body, &page); err != nil {
			return page, fmt.Errorf("cannot read the list: %w", err)
		}
		page.Items, err = w.owned(page.Items)
		return page, err
	})
}

// watchOne shows one object and then its changes.
func (k Kind) watchOne(ctx context.Context, args []string) error {
	resources, err := Resources(k.P, k.Open, args)
	if err != nil {
		return err
	}
	s, name := resources[0].Session, resources[0].Name
	w := k.watching(s, true, nil)
	w.query = w.query.With("resourceName", w.prefix()+name)
	return w.run(ctx, func(ctx context.Context, _ *client.Cursor) (page follow.Page[json.RawMessage], err error) {
		now, _, err := s.Changes(ctx, w.query, "", 0)
		if err != nil {
			return page, err
		}
		page.Changes = now.Cursor
		a, err := k.Ask(ctx, s, name)
		if w.began && exit.CodeOf(err) == exit.NotFound {
			return page, nil
		}
		if err != nil {
			return page, err
		}
		page.Items, err = w.owned([]json.RawMessage{a.Body})
		if err == nil && len(page.Items) == 0 {
			err = fmt.Errorf("%s %s cannot be watched from project %s: its feed contains only %s", k.Kind, name, s.Project, k.Fed.OwnText)
		}
		return page, err
	})
}

// owned returns the documents whose objects are in the change feed.
func (w *watching) owned(docs []json.RawMessage) ([]json.RawMessage, error) {
	if w.Fed.Own == nil {
		return docs, nil
	}
	out := []json.RawMessage{}
	for _, doc := range docs {
		object, err := w.Decode(doc)
		if err != nil {
			return nil, err
		}
		if w.Fed.Own(w.s, object) {
			out = append(out, doc)
		}
	}
	return out, nil
}

// run shows the existing objects and then their changes. It ends if the user interrupts it or if the server returns a permanent refusal.
func (w *watching) run(ctx context.Context, list func(ctx context.Context, at *client.Cursor) (follow.Page[json.RawMessage], error)) error {
	source := follow.Source[json.RawMessage]{List: list, Name: w.nameOf, Changes: w.changes}
	for e, err := range source.Watch(ctx) {
		switch {
		case err == nil:
			err = w.print(e)
		case !w.began:
		case follow.Stays(err):
			err = fmt.Errorf("the watch has ended: %w", err)
		default:
			w.s.Note("%s\nThe watch continues from the last change.", err)
			continue
		}
		if err != nil {
			return err
		}
	}
	return Interrupted
}

// nameOf returns an object's name in the change feed.
func (w *watching) nameOf(doc *json.RawMessage) string {
	object, _ := w.Decode(*doc) // run decodes the document again, and reports the error
	return w.prefix() + w.Name(object)
}

func (w *watching) changes(ctx context.Context, after client.ChangesCursor, seconds int) (*client.ChangeList, error) {
	list, _, err := w.s.Changes(ctx, w.query, after, seconds)
	if err == nil && w.prefix() != "" {
		list.Items = slices.DeleteFunc(list.Items, func(c client.Change) bool { return !strings.HasPrefix(c.Name, w.prefix()) })
	}
	return list, err
}

// print shows an event. If the event does not change the document, print skips it.
func (w *watching) print(e follow.Event[json.RawMessage]) error {
	c := change{Kind: w.Feed, Name: e.Name, Type: e.Type, word: string(e.Type)}
	var doc json.RawMessage
	switch e.Type {
	case follow.Put:
		doc, c.Object = *e.Object, *e.Object
		if was, known := w.last[e.Name]; known && bytes.Equal(was, doc) {
			return nil
		}
		w.last[e.Name] = doc
	case follow.Delete:
		doc = w.last[e.Name]
		delete(w.last, e.Name)
	case follow.Synced:
		if w.began {
			return nil
		}
		w.began = true
		if len(w.first) == 0 {
			w.s.Remark("no %s", show.Plural(w.View.Kind))
		}
		return w.show(w.first)
	}
	var err error
	if c.object, err = w.Decode(doc); err != nil {
		return err
	}
	if !w.began {
		c.word = ""
		w.first = append(w.first, c)
		return nil
	}
	return w.show([]change{c})
}

// show prints changes. It prints table rows, or a document or a word for each change.
func (w *watching) show(list []change) error {
	word := w.Name
	if w.named && w.P.Quiet && w.Cidr != nil {
		word = w.Cidr
	}
	switch {
	case w.P.Structured():
		for _, c := range list {
			doc, err := show.Marshal(c)
			if err == nil {
				err = w.P.OneOfMany(doc)
			}
			if err != nil {
				return err
			}
		}
		return nil
	case w.P.Quiet, w.P.Output == show.FormatName:
		return w.P.Lines(show.WordsOf(list, func(c change) string { return word(c.object) }))
	default:
		return w.rows.Rows(show.Rows(list))
	}
}
