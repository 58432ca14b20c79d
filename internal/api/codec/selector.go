package codec

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/carve-ipam/carve/internal/ipam"
)

// LabelFilter parses conditions on labels with Kubernetes' own parser and syntax. "" sets no condition.
func LabelFilter(s string) (*ipam.Selector, error) { return labelsAt("query:labelSelector", s) }

func labelsAt(pointer, s string) (*ipam.Selector, error) {
	parsed, err := labels.Parse(s)
	if err != nil {
		return nil, ipam.Invalid(pointer, "is not a label selector such as env=prod,tier in (web,api),!temporary.")
	}
	requirements, _ := parsed.Requirements() // a parsed selector is always selectable
	if len(requirements) == 0 {
		return nil, nil //nolint:nilnil // no condition is no filter
	}
	out := &ipam.Selector{}
	for _, r := range requirements {
		q := ipam.Requirement{Key: r.Key()}
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			q.Operator = ipam.OpIn
		case selection.NotEquals, selection.NotIn:
			q.Operator = ipam.OpNotIn
		case selection.Exists:
			q.Operator = ipam.OpExists
		case selection.DoesNotExist:
			q.Operator = ipam.OpDoesNotExist
		case selection.GreaterThan, selection.LessThan:
			return nil, ipam.Invalid(pointer, "cannot compare with < or >, because labels are text. Use =, !=, in, notin, a key, or !key.")
		}
		if q.Operator == ipam.OpIn || q.Operator == ipam.OpNotIn {
			q.Values = slices.Sorted(slices.Values(r.ValuesUnsorted()))
		}
		out.MatchExpressions = append(out.MatchExpressions, q)
	}
	if e, ok := errors.AsType[*ipam.Error](out.Check("")); ok {
		return nil, ipam.Invalid(pointer, "%s", e.Fields[0].Detail)
	}
	return out, nil
}
