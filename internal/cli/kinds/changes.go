package kinds

import (
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
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// followWait is the time, in seconds, for which the server holds a request without changes.
const followWait = 10

// changes is the command that reads the change feed.
type changes struct {
	*session.Session

	query  session.Query
	cursor client.ChangesCursor
}

var followable = []client.ChangeKind{
	client.ChangeKindIPPool, client.ChangeKindIPClaim, client.ChangeKindIPAllocation, client.ChangeKindIPClass, client.ChangeKindQuota, client.ChangeKindIPConsumer,
	client.ChangeKindAlert,
}

func changesCommand(p *session.Program) *cobra.Command {
	var r changes
	var kinds []string
	var name, labels string
	var goOn bool
	cmd := verbs.Bare(&cobra.Command{
		Use:   "changes [--cursor CURSOR] [--follow]",
		Short: "Show the changes in the project, from a cursor on",
		Long: `Prints the feed: the current state of each object that changed since --cursor, and the next cursor. Without --cursor the feed starts now,
and prints a first cursor. With --follow it continues until interrupted, and with -o json it prints one line, with a cursor, for each
response with changes. If the cursor is too old, list the objects again; 'list --watch' does that by itself.`,
		Example: `  cursor=$(ipamctl changes -o json | jq -r .cursor)
  ipamctl changes --cursor "$cursor" --kind IPClaim
  ipamctl changes --follow -o json`,
	})
	f := cmd.Flags()
	f.StringSliceVar(&kinds, "kind", nil, "only changes of this `KIND` (repeatable): "+show.JoinComma(followable))
	f.StringVar(&name, "name", "", "only changes of the object with this `NAME`: for an allocation its UUID, for a consumer realm/uid")
	f.StringVarP(&labels, "selector", "l", "", "only changes of objects with these `LABELS`: 'a=b,c!=d,e in (f,g),!h'")
	f.StringVar(&r.cursor, "cursor", "", "start after this `CURSOR`")
	f.BoolVar(&goOn, "follow", false, "continue until interrupted")
	verbs.CompleteWords(cmd, "kind", followable)
	cmd.RunE = p.Verb(func(ctx context.Context, _ []string) (err error) {
		for i, kind := range kinds {
			at := slices.IndexFunc(followable, func(k client.ChangeKind) bool { return strings.EqualFold(string(k), kind) })
			if at < 0 {
				return exit.Usagef("--kind must be one of %s, not %q", show.JoinComma(followable), kind)
			}
			kinds[i] = string(followable[at])
		}
		if r.Session, err = p.InProject(); err != nil {
			return err
		}
		r.query = session.Query{}.With("resourceKind", strings.Join(kinds, ",")).With("resourceName", name).With("labelSelector", labels)
		if goOn {
			return r.follow(ctx)
		}
		return r.once(ctx)
	})
	return cmd
}

// once prints the changes after the cursor, and then the next cursor.
func (r *changes) once(ctx context.Context) error {
	all := client.ChangeList{Items: []client.Change{}}
	for {
		list, _, err := r.Changes(ctx, r.query, r.cursor, 0)
		if err != nil {
			return err
		}
		all.Items, r.cursor = append(all.Items, list.Items...), list.Cursor
		if len(list.Items) == 0 {
			break
		}
	}
	all.Cursor = r.cursor
	if r.Structured() {
		return r.DocumentOf(all)
	}
	if err := r.show(&show.Stream{Printer: r.Printer, Columns: changeColumns}, all.Items); err != nil {
		return err
	}
	r.continues()
	return nil
}

// follow prints changes until the user interrupts it or the server returns a permanent refusal.
func (r *changes) follow(ctx context.Context) error {
	rows := &show.Stream{Printer: r.Printer, Columns: changeColumns}
	var doc json.RawMessage
	pages := follow.Changes(ctx, r.cursor, func(ctx context.Context, after client.ChangesCursor) (list *client.ChangeList, err error) {
		seconds := followWait
		if after == "" { // the server answers the first request at once, with a first cursor
			seconds = 0
		}
		list, doc, err = r.Changes(ctx, r.query, after, seconds)
		return list, err
	})
	defer r.continues()
	for list, err := range pages {
		switch {
		case follow.Stays(err):
			return fmt.Errorf("the feed has ended: %w", err)
		case err != nil && r.cursor == "":
			return err
		case err != nil:
			r.Note("%s\nThe feed continues from its last cursor.", err)
			continue
		case len(list.Items) == 0:
		case r.Structured():
			err = r.OneOfMany(doc)
		default:
			err = r.show(rows, list.Items)
		}
		if err != nil {
			return err
		}
		r.cursor = list.Cursor
	}
	return verbs.Interrupted
}

// show prints the given changes.
func (r *changes) show(rows *show.Stream, list []client.Change) error {
	if r.Quiet || r.Output == show.FormatName {
		return r.Lines(show.WordsOf(list, func(c client.Change) string { return string(c.Kind) + "/" + c.Name }))
	}
	return rows.Rows(show.Rows(list))
}

// continues prints the cursor with which the user can continue later.
func (r *changes) continues() {
	if r.cursor != "" {
		r.Remark("continue with --cursor %s", r.cursor)
	}
}

var changeColumns = show.Columns[client.Change](`
	TIME: at
	KIND: kind
	NAME: name
	CHANGE: type
	OPERATION: operation`, nil)
