package verbs

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// completionTime limits the time of a completion. completionLimit limits the number of its proposals.
const (
	completionTime  = 2 * time.Second
	completionLimit = 200
	mostFound       = 100 // the largest number of names that one search returns
)

// Complete proposes the names of existing objects of a kind.
func (k Kind[T]) Complete() Completion {
	if k.Nameless {
		return cobra.NoFileCompletions
	}
	return completeNames(k.P, k.Home)
}

// searched lists the kinds that the server can search by the beginning of a name. The key is the collection in the path.
var searched = map[string]client.SearchKind{
	"spaces": client.SearchKindSpace, "classes": client.SearchKindIPClass, "pools": client.SearchKindIPPool, "claims": client.SearchKindIPClaim,
}

func completeNames(p *session.Program, h Home) Completion {
	return completeWith(p, h.Within, func(ctx context.Context, s *session.Session, begins string) ([]string, error) {
		at := h.Path(s)
		if kind, is := searched[at[len(at)-1]]; is && h.inProject && begins != "" {
			return namesBeginning(ctx, s, kind, begins)
		}
		found, err := s.Pages(ctx, session.Paging{Limit: completionLimit}, h.Fetch(s, nil))
		if err != nil {
			return nil, err
		}
		named, err := show.Decode[struct{ Metadata client.Metadata }](found.Items)
		return show.WordsOf(named, func(n struct{ Metadata client.Metadata }) string { return n.Metadata.Name }), err
	})
}

// namesBeginning returns the names of a kind that start with a prefix.
func namesBeginning(ctx context.Context, s *session.Session, kind client.SearchKind, begins string) (names []string, err error) {
	a, err := s.Ask(ctx, session.Request{Path: []string{"search"}, Query: session.Query{}.With("q", s.Project+"/"+begins).With("kind", string(kind)).With("limit", strconv.Itoa(mostFound))})
	if err != nil {
		return nil, err
	}
	var found client.SearchResult
	if err := json.Unmarshal(a.Body, &found); err != nil {
		return nil, err
	}
	for _, item := range found.Items {
		if item.Project == s.Project && strings.HasPrefix(item.Name, begins) {
			names = append(names, item.Name)
		}
	}
	return names, nil
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

// CompleteSpaces proposes spaces.
func CompleteSpaces(p *session.Program) Completion { return completeNames(p, HomeOf(p, "spaces")) }

// CompletePools proposes pools.
func CompletePools(p *session.Program) Completion { return completeNames(p, HomeOf(p, "pools")) }

// CompleteClasses proposes classes.
func CompleteClasses(p *session.Program) Completion { return completeNames(p, HomeOf(p, "classes")) }

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
	a, err := s.Ask(ctx, session.Get("regions"))
	if err != nil {
		return show.Page{}, err
	}
	var all show.Page
	err = json.Unmarshal(a.Body, &all)
	return all, err
}
