package verbs

import (
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// completionTime limits a completion's time. completionLimit limits its proposals.
const (
	completionTime  = 2 * time.Second
	completionLimit = 200
	maxFound        = 100 // the maximum for one search
)

// Complete proposes the names of existing objects.
func (k Kind) Complete() Completion {
	if k.Nameless {
		return cobra.NoFileCompletions
	}
	return completeWith(k.P, k.Open, func(ctx context.Context, s *session.Session, begins string) ([]string, error) {
		if kind, is := searched[k.In]; is && begins != "" {
			return namesBeginning(ctx, s, kind, begins)
		}
		page, err := s.Pages(ctx, session.Paging{Limit: completionLimit}, s.Fetch(k.list(s), nil))
		if err != nil {
			return nil, err
		}
		named, err := show.Decode[struct{ Metadata client.Metadata }](page.Items)
		return show.WordsOf(named, func(n struct{ Metadata client.Metadata }) string { return n.Metadata.Name }), err
	})
}

// searched lists the kinds that the server can search by a name's beginning. The key is the collection in the path.
var searched = map[string]client.SearchKind{
	"spaces": client.SearchKindSpace, "classes": client.SearchKindIPClass, "pools": client.SearchKindIPPool, "claims": client.SearchKindIPClaim,
}

// namesBeginning returns the names that start with a prefix.
func namesBeginning(ctx context.Context, s *session.Session, kind client.SearchKind, begins string) (names []string, err error) {
	q := session.Query{}.With("q", s.Project+"/"+begins).With("kind", string(kind)).With("limit", strconv.Itoa(maxFound))
	found, err := session.Into[client.SearchResult](s.Ask(ctx, session.Request{Path: []string{"search"}, Query: q}))
	for _, item := range found.Items {
		if item.Project == s.Project && strings.HasPrefix(item.Name, begins) {
			names = append(names, item.Name)
		}
	}
	return names, err
}

// completeWith proposes names from the server. If the request fails, it proposes nothing, because a shell's completion cannot show errors.
func completeWith(p *session.Program, within func() (*session.Session, error), ask func(ctx context.Context, s *session.Session, begins string) ([]string, error)) Completion {
	return func(cmd *cobra.Command, _ []string, begins string) ([]string, cobra.ShellCompDirective) {
		p.Aside, p.Flags.Timeout = io.Discard, completionTime
		s, err := within()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
		defer cancel()
		names, err := ask(ctx, s, begins)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// Each proposes names from a collection in the project.
var (
	CompleteSpaces  = completeIn("spaces")
	CompletePools   = completeIn("pools")
	CompleteClasses = completeIn("classes")
)

func completeIn(collection string) func(p *session.Program) Completion {
	return func(p *session.Program) Completion { return Kind{P: p, In: collection}.Complete() }
}

// CompleteRegions proposes regions.
func CompleteRegions(p *session.Program) Completion {
	return completeWith(p, p.Session, func(ctx context.Context, s *session.Session, _ string) ([]string, error) {
		found, err := Regions(ctx, s)
		if err != nil {
			return nil, err
		}
		all, err := show.Decode[client.Region](found.Items)
		return show.WordsOf(all, func(r client.Region) string { return r.Name }), err
	})
}

// Regions returns all regions. They fit on one page.
func Regions(ctx context.Context, s *session.Session) (show.Page, error) {
	return session.Into[show.Page](s.Ask(ctx, session.Get("regions")))
}
