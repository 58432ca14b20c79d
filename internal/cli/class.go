package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) classCommand() *cobra.Command {
	within := p.inProject
	complete := p.completeClasses()
	return group("class", "Policies for handing out blocks: pools list them, claims name them", []string{"classes"},
		p.classCreate(),
		p.classList(within),
		p.classShow(complete),
		p.classSet(complete),
		p.deleteVerb(removal{
			kind: "class", within: within, complete: complete,
			long: "Deletes classes of the project itself. Refused while pools list them, pools that were carved for their scopes exist, or claims\n" +
				"name them; nothing changes then.",
			read: func(ctx context.Context, s *session, name string) (*http.Response, error) {
				return s.ownClass(ctx, name)
			},
			send: func(ctx context.Context, s *session, name string, d deleting) (*http.Response, error) {
				return s.api.DeleteClass(ctx, s.project, name, &client.DeleteClassParams{DryRun: d.dry(), IfMatch: d.match()})
			},
		}),
	)
}

func (p *program) classList(within func() (*session, error)) *cobra.Command {
	var selector string
	var fam family
	return listVerb(p, classView(), "Lists the classes that the project may use: its own, and the shared ones of 'platform'. Filters add up.", within,
		func(cmd *cobra.Command) {
			selectorFlag(cmd, &selector, "classes")
			cmd.Flags().Var(&fam, "family", "only classes of this address family: IPv4, IPv6")
		},
		func(s *session) (fetch, error) { return s.fetchClasses(selector, fam), nil })
}

func (s *session) fetchClasses(selector string, fam family) fetch {
	return func(ctx context.Context, ask asking) (*http.Response, error) {
		return s.api.ListClasses(ctx, s.project, &client.ListClassesParams{
			LabelSelector: optional[client.LabelSelectorFilter](selector), IPFamily: optional[client.FamilyFilter](fam),
			Limit: ask.limit, Cursor: ask.cursor, Consistency: ask.consistency,
		})
	}
}

func (p *program) completeClasses() completion {
	return completeNames(p, p.inProject, func(s *session) (fetch, error) { return s.fetchClasses("", ""), nil })
}

// classFilter adds the filter of lists by class. It is checked as a name when the list is asked for.
func classFilter(p *program, cmd *cobra.Command, into *string, usage string) {
	cmd.Flags().StringVar(into, "class", "", usage)
	completeFlag(cmd, "class", p.completeClasses())
}

// classFiltered is the filter; empty is none.
func classFiltered(name string) (*client.ClassFilter, error) {
	if name == "" {
		return nil, nil
	}
	return &name, checkName("class", name)
}

// ownClass asks for a class of the project itself. The server answers with the shared one of the platform where there is
// none; for who wants to know what became of their own that is nothing there.
func (s *session) ownClass(ctx context.Context, name string) (*http.Response, error) {
	resp, err := s.api.GetClass(ctx, s.project, name, nil)
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var found client.IPClass
	if err := json.Unmarshal(body, &found); err != nil || found.Metadata.Project == s.project {
		return resp, nil //nolint:nilerr // what is no class is shown as it came
	}
	missing, err := marshal(client.Problem{
		Code: client.ProblemCodeNotFound, Status: http.StatusNotFound,
		Detail: fmt.Sprintf("Class %s/%s was not found.", s.project, name),
	})
	if err != nil {
		return nil, err
	}
	resp.StatusCode, resp.Status = http.StatusNotFound, "404 Not Found"
	resp.Header.Set("Content-Type", "application/problem+json")
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(missing)), int64(len(missing))
	return resp, nil
}

func classView() view[client.IPClass] {
	type T = client.IPClass
	return view[T]{
		kind: "class",
		name: func(t T) string { return t.Metadata.Name },
		columns: append([]column[T]{
			{title: "NAME", cell: func(t T) string { return t.Metadata.Name }},
			{title: "PROJECT", cell: func(t T) string { return t.Metadata.Project }},
			{title: "FAMILY", cell: func(t T) string { return string(t.Spec.IPFamily) }},
			{title: "DEFAULT", cell: func(t T) string { return yes(isDefault(t)) }},
			{title: "LENGTHS", cell: classLengths},
			{title: "POOLS", cell: poolCount},
			{title: "USED", cell: func(t T) string { return percent(t.Status.UtilizationPercent) }},
			{title: "LARGEST", cell: func(t T) string { return slashed(t.Status.LargestPrefixLength) }},
			{title: "FULL", wide: true, cell: classBar},
			{title: "TOTAL", wide: true, cell: func(t T) string { return t.Status.Capacity.Total }},
			{title: "AVAILABLE", wide: true, cell: func(t T) string { return t.Status.Capacity.Available }},
			{title: "STRATEGY", wide: true, cell: func(t T) string { return string(t.Spec.Strategy) }},
			{title: "SELECTION", wide: true, cell: func(t T) string { return string(t.Spec.PoolSelection) }},
			{title: "RECLAIM", wide: true, cell: func(t T) string { return string(t.Spec.ReclaimPolicy) }},
			{title: "REUSE AFTER", wide: true, cell: func(t T) string { return t.Spec.ReuseAfter }},
			{title: "POOL PER", wide: true, cell: poolPerText},
			{title: "VISIBILITY", wide: true, cell: func(t T) string { return string(t.Spec.Visibility) }},
		}, metaColumns(func(t T) client.Metadata { return t.Metadata })...),
	}
}

func isDefault(c client.IPClass) bool { return c.Spec.IsDefault != nil && *c.Spec.IsDefault }

func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}
