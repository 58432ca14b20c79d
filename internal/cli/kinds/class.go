package kinds

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// Classes returns the kind for classes.
func Classes(p *session.Program) verbs.Kind[client.IPClass] {
	return verbs.Kind[client.IPClass]{
		P: p, View: classView(), Home: verbs.HomeOf(p, "classes"), Fields: classFields(), Read: ownClass,
		Fed: &verbs.Fed[client.IPClass]{
			Kind: client.ChangeKindIPClass, OwnText: "the project's own classes",
			Own: func(s *session.Session, t client.IPClass) bool { return t.Metadata.Project == s.Project },
		},
	}
}

func classCommand(p *session.Program) *cobra.Command {
	k := Classes(p)
	return verbs.Group("class", "Policies for allocating blocks: pools list them, claims name them", []string{"classes"},
		classCreate(p),
		classPut(p),
		k.ListVerb("Lists the classes that the project may use: its own, and the shared ones of 'platform'. A class must match all filters.",
			verbs.SelectorFilter("classes"), verbs.FamilyFilter("classes")),
		classShow(p, k.Complete()),
		classSet(p),
		scopeGroup(p),
		k.DeleteVerb(verbs.Removal{
			Many: verbs.ByLabels,
			Long: "Deletes classes of the project itself. The server refuses while pools list a class, pools of its scopes exist, or claims\n" +
				"name it; then nothing changes.",
		}),
	)
}

// ownClass reads a class of the project itself. If the project has no class with that name, the server returns the platform's shared class. The
// caller wants only the project's own class, so ownClass then returns not_found.
func ownClass(ctx context.Context, s *session.Session, name string) (session.Answer, error) {
	a, err := s.Ask(ctx, session.Get(s.In("classes", name)...))
	if err != nil {
		return a, err
	}
	var found client.IPClass
	if err := json.Unmarshal(a.Body, &found); err != nil || found.Metadata.Project == s.Project {
		return a, nil //nolint:nilerr // a response that is not a class is shown unchanged
	}
	return a, &session.Refusal{Status: http.StatusNotFound, Problem: client.Problem{
		Code: client.ProblemCodeNotFound, Detail: fmt.Sprintf("Class %s/%s was not found.", s.Project, name),
	}}
}

func classView() show.View[client.IPClass] {
	type T = client.IPClass
	return show.View[T]{
		Kind: "class",
		Name: func(t T) string { return t.Metadata.Name },
		Columns: append([]show.Column[T]{
			{Title: "NAME", Cell: func(t T) string { return t.Metadata.Name }},
			{Title: "PROJECT", Cell: func(t T) string { return t.Metadata.Project }},
			{Title: "FAMILY", Cell: func(t T) string { return string(t.Spec.IPFamily) }},
			{Title: "DEFAULT", Cell: func(t T) string { return show.YesOrEmpty(IsDefault(t)) }},
			{Title: "LENGTHS", Cell: classLengths},
			{Title: "POOLS", Cell: poolCount},
			{Title: "USED", Bar: true, Cell: func(t T) string { return show.Percent(t.Status.UtilizationPercent) }},
			{Title: "LARGEST", Cell: func(t T) string { return show.PrefixLengthText(t.Status.LargestPrefixLength) }},
			{Title: "FULL", Wide: true, Cell: classBar},
			{Title: "TOTAL", Wide: true, Cell: func(t T) string { return t.Status.Capacity.Total }},
			{Title: "AVAILABLE", Wide: true, Cell: func(t T) string { return t.Status.Capacity.Available }},
			{Title: "STRATEGY", Wide: true, Cell: func(t T) string { return string(t.Spec.Strategy) }},
			{Title: "SELECTION", Wide: true, Cell: func(t T) string { return string(t.Spec.PoolSelection) }},
			{Title: "RECLAIM", Wide: true, Cell: func(t T) string { return string(t.Spec.ReclaimPolicy) }},
			{Title: "REUSE AFTER", Wide: true, Cell: func(t T) string { return t.Spec.ReuseAfter }},
			{Title: "POOL PER", Wide: true, Cell: poolPerText},
			{Title: "VISIBILITY", Wide: true, Cell: func(t T) string { return string(t.Spec.Visibility) }},
		}, metaColumns(func(t T) client.Metadata { return t.Metadata })...),
	}
}

// IsDefault reports whether a class serves the claims that name no class.
func IsDefault(c client.IPClass) bool { return c.Spec.IsDefault != nil && *c.Spec.IsDefault }
