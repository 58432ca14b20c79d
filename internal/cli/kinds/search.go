package kinds

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func searchCommand(p *session.Program) *cobra.Command {
	limit := 0
	cmd := &cobra.Command{
		Use:   "search ADDRESS|CIDR|NAME|KEY=VALUE",
		Short: "Find things in all of your projects",
		Long: `Finds in all projects in which you have a role: who holds an address or a CIDR and the pools around it, what has a name or
one that begins so, and pools with a label. The best comes first. PROJECT/ before it looks in this project alone.`,
		Example: `  ipamctl search 10.20.65.9
  ipamctl search team-a/web
  ipamctl search env=prod`,
		Args:              verbs.Arguments("what to look for", 1, 1, checkSought),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.Verb(func(ctx context.Context, args []string) error {
			s, err := p.Session()
			if err != nil {
				return err
			}
			q := session.Query{}.With("q", args[0])
			if limit != 0 {
				q = q.With("limit", strconv.Itoa(limit))
			}
			a, err := s.Ask(ctx, session.Request{Path: []string{"search"}, Query: q})
			if err != nil {
				return err
			}
			return showFound(s, args[0], a.Body)
		}),
	}
	cmd.Flags().IntVar(&limit, "limit", 0, "show at most so `MANY`, 1 to 100 (default: 20)")
	return cmd
}

// looksLikeAddress matches texts that people mean as an address or its beginning, and that the server would search as a name.
var looksLikeAddress = regexp.MustCompile(`^([0-9]+\.[0-9.]*|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*)(%.*)?$`)

// halfAnAddress reports whether a text looks like an address but is not valid.
func halfAnAddress(text string) bool {
	a, err := netip.ParseAddr(text)
	return looksLikeAddress.MatchString(text) && (err != nil || a.Zone() != "")
}

func checkSought(s string) error {
	if s == "" {
		return exit.Usagef("an empty text finds nothing")
	}
	return nil
}

// showFound prints the result of a search, in its order.
func showFound(s *session.Session, sought string, doc json.RawMessage) error {
	var found struct {
		Items     []json.RawMessage `json:"items"`
		Truncated bool              `json:"truncated"`
	}
	if err := json.Unmarshal(doc, &found); err != nil {
		return fmt.Errorf("cannot read the server's answer: %w", err)
	}
	if err := show.Show(s.Printer, foundView(), found.Items, doc, false); err != nil {
		return err
	}
	switch {
	case found.Truncated:
		s.Remark("there may be more: ask for something more specific, or for PROJECT/...")
	case len(found.Items) == 0:
		s.Remark("nothing was found")
	}
	if text := sought[strings.LastIndexByte(sought, '/')+1:]; len(found.Items) == 0 && halfAnAddress(text) {
		s.Remark("%q is no address and no CIDR, so it was looked for as a name: write an address as in 10.9.3.0 or 2001:db8::1, without zeros before numbers and without a zone", sought)
	}
	if strings.Contains(sought, "=") {
		s.Remark("of labels, those of pools are looked for; claims: ipamctl claim list -A -l '%s'", sought)
	}
	return nil
}

func foundView() show.View[client.SearchItem] {
	type T = client.SearchItem
	ref := func(r *client.ResolvedRef) string { return show.RefText(r, "") }
	return show.View[T]{
		Kind: "thing",
		Name: func(t T) string { return path.Join(string(t.Kind), t.Project, t.Name) },
		Columns: []show.Column[T]{
			{Title: "KIND", Cell: func(t T) string { return string(t.Kind) }},
			{Title: "PROJECT", Cell: func(t T) string { return t.Project }},
			{Title: "NAME", Cell: func(t T) string { return t.Name }},
			{Title: "CIDR", Cell: func(t T) string { return t.CIDR }},
			{Title: "WHY", Cell: func(t T) string { return string(t.Why) }},
			{Title: "POOL", Wide: true, Cell: func(t T) string { return ref(t.PoolRef) }},
			{Title: "SPACE", Wide: true, Cell: func(t T) string { return ref(t.SpaceRef) }},
			{Title: "HELD BY", Wide: true, Cell: func(t T) string { return t.Consumer }},
		},
	}
}
