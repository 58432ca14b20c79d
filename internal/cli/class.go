package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) classes() kind[client.IPClass] {
	return kind[client.IPClass]{p: p, view: classView(), home: p.homeOf("classes"), fields: classFields(), read: ownClass}
}

func (p *program) classCommand() *cobra.Command {
	k := p.classes()
	return group("class", "Policies for handing out blocks: pools list them, claims name them", []string{"classes"},
		p.classCreate(),
		k.listVerb("Lists the classes that the project may use: its own, and the shared ones of 'platform'. Filters add up.",
			selectorFilter("classes"), familyFilter("classes")),
		p.classShow(k.complete()),
		p.classSet(),
		k.deleteVerb(removal{
			long: "Deletes classes of the project itself. Refused while pools list them, pools that were carved for their scopes exist, or claims\n" +
				"name them; nothing changes then.",
		}),
	)
}

// ownClass asks for a class of the project itself. The server answers with the shared one of the platform where there is
// none; for who wants to know what became of their own that is nothing there.
func ownClass(ctx context.Context, s *session, name string) (answer, error) {
	a, err := s.ask(ctx, get(s.in("classes", name)...))
	if err != nil {
		return a, err
	}
	var found client.IPClass
	if err := json.Unmarshal(a.body, &found); err != nil || found.Metadata.Project == s.project {
		return a, nil //nolint:nilerr // what is no class is shown as it came
	}
	return a, &refusal{status: http.StatusNotFound, Problem: client.Problem{
		Code: client.ProblemCodeNotFound, Detail: fmt.Sprintf("Class %s/%s was not found.", s.project, name),
	}}
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
