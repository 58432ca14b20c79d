package verbs

import (
	"cmp"
	"context"
	"encoding/json"
	"net/netip"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// selecting has the flags that select objects for a delete.
type selecting struct {
	labels   string
	all, yes bool
}

// add adds the flags. labelled means that labels can select the objects.
func (s *selecting) add(cmd *cobra.Command, kinds string, labelled bool) {
	if labelled {
		cmd.Flags().StringVarP(&s.labels, "selector", "l", "", "select by `LABELS`, after a confirmation: 'a=b,c!=d,e in (f,g),!h'")
	}
	cmd.Flags().BoolVar(&s.all, "all", false, "select all "+kinds+" of the project, after a confirmation")
	cmd.Flags().BoolVarP(&s.yes, "yes", "y", false, "delete without a confirmation, with --all or --selector")
}

func (s *selecting) given() bool { return s.all || s.labels != "" }

// selected checks a delete command's arguments. They are either names or a selection.
func (k Kind) selected(s *selecting) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case !s.given():
			return k.Named(-1)(cmd, args)
		case len(args) > 0 || s.all && s.labels != "":
			return exit.Usagef("give names, --selector or --all, and only one of these")
		default:
			return nil
		}
	}
}

// selectedObject has the fields that the delete needs.
type selectedObject struct {
	Metadata struct {
		Name, Revision string
		CreatedAt      time.Time
	}
	Status struct{ AllocatedCIDR string }
	doc    json.RawMessage
}

// deleteSelected shows the selected objects and asks for confirmation. It then deletes each object only at the revision that it showed.
func (k Kind) deleteSelected(ctx context.Context, r Removal, sel selecting, d deleting) error {
	s, err := k.Open()
	if err != nil {
		return err
	}
	own, err := k.own(ctx, s, session.Query{}.With("labelSelector", sel.labels))
	if err != nil {
		return err
	}
	list, docs, err := inOrder(s, own)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		k.P.Remark("no %s", show.Plural(k.Kind))
		return nil
	}
	if !d.DryRun && !sel.yes {
		if k.P.Secret != nil {
			shown := &show.Printer{To: k.P.Aside, Aside: k.P.Aside, Hide: k.P.Hide, Output: show.FormatTable, Width: k.P.Width, Colour: k.P.Colour}
			if err := show.Show(shown, k.View, docs, nil, false); err != nil {
				return err
			}
		}
		if err := k.P.Confirm(ctx, show.CountOf(len(list), k.Kind)+" would be "+r.Done, "Continue?"); err != nil {
			return err
		}
	}
	return k.deleteAll(ctx, r, list, d)
}

// inOrder sorts objects. An object inside another object comes first, so that it is deleted first.
func inOrder(s *session.Session, docs []json.RawMessage) (out []Resource, sorted []json.RawMessage, err error) {
	all, err := show.Decode[selectedObject](docs)
	if err != nil {
		return nil, nil, err
	}
	bits := func(c selectedObject) int {
		block, _ := netip.ParsePrefix(c.Status.AllocatedCIDR) // an object without a block is not inside another one
		return block.Bits()
	}
	for i := range all {
		all[i].doc = docs[i]
	}
	slices.SortStableFunc(all, func(a, b selectedObject) int {
		return cmp.Or(cmp.Compare(bits(b), bits(a)), b.Metadata.CreatedAt.Compare(a.Metadata.CreatedAt))
	})
	for _, c := range all {
		out = append(out, Resource{Session: s, Name: c.Metadata.Name, argument: c.Metadata.Name, match: `"` + c.Metadata.Revision + `"`, doc: c.doc})
		sorted = append(sorted, c.doc)
	}
	return out, sorted, nil
}
