package kinds

import (
	"context"
	"encoding/json"
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
		Short: "Find objects in all of your projects",
		Long: `Searches all projects in which you have a role, for the holder of an address or a CIDR and the pools around it, for objects with a
name or its beginning, and for pools with a label. The best match comes first. A prefix PROJECT/ limits the search to this project.`,
		Example: `  ipamctl search 10.20.65.9
  ipamctl search team-a/web
  ipamctl search env=prod`,
		Args:              verbs.Arguments("a text to search", 1, 1, checkSought),
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
	cmd.Flags().IntVar(&limit, "limit", 0, "maximum number of results, `N` from 1 to 100 (default: 20)")
	return cmd
}

// looksLikeAddress matches a text that a user means as an address or as its beginning. The server would search for it as a name.
var looksLikeAddress = regexp.MustCompile(`^([0-9]+\.[0-9.]*|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*)(%.*)?$`)

// halfAnAddress reports whether a text looks like an address but is not a valid one.
func halfAnAddress(text string) bool {
	a, err := netip.ParseAddr(text)
	return looksLikeAddress.MatchString(text) && (err != nil || a.Zone() != "")
}

func checkSought(s string) error {
	if s == "" {
		return exit.Usagef("the search text is empty")
	}
	return nil
}

// showFound prints the search results in the server's order.
func showFound(s *session.Session, sought string, doc json.RawMessage) error {
	found, err := show.Read[struct {
		Items     []json.RawMessage
		Truncated bool
	}](doc)
	if err != nil {
		return err
	}
	if err := show.Show(s.Printer, foundView(), found.Items, doc, false); err != nil {
		return err
	}
	switch {
	case found.Truncated:
		s.Remark("there may be more results: use a more specific text, or PROJECT/...")
	case len(found.Items) == 0:
		s.Remark("nothing was found")
	}
	if text := sought[strings.LastIndexByte(sought, '/')+1:]; len(found.Items) == 0 && halfAnAddress(text) {
		s.Remark("%q is neither an address nor a CIDR, so the search treated it as a name: write addresses like 10.9.3.0 or 2001:db8::1, without leading zeros and without a zone", sought)
	}
	if strings.Contains(sought, "=") {
		s.Remark("the search covers labels of pools only; for claims: ipamctl claim list -A -l '%s'", sought)
	}
	return nil
}

func foundView() show.View {
	v := show.ViewOf[client.SearchItem]("thing", `
		KIND: kind
		PROJECT: project
		NAME: name
		CIDR: cidr
		WHY: why
		POOL: poolRef, wide
		SPACE: spaceRef, wide
		HELD BY: consumer, wide`, nil)
	v.Name = show.CellOf(func(t client.SearchItem) string { return path.Join(string(t.Kind), t.Project, t.Name) })
	return v
}
