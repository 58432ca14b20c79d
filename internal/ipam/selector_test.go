package ipam_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/ipam"
)

func TestSelectorMatches(t *testing.T) {
	t.Parallel()
	set := map[string]string{"site": "fra", "tier": "prod", "empty": ""}
	one := func(key string, op ipam.Operator, values ...string) ipam.Selector {
		return ipam.Selector{MatchExpressions: []ipam.Requirement{{Key: key, Operator: op, Values: values}}}
	}
	for _, c := range []struct {
		name     string
		selector ipam.Selector
		want     bool
	}{
		{"EmptyMatchesEverything", ipam.Selector{}, true},
		{"Label", ipam.Selector{MatchLabels: map[string]string{"site": "fra"}}, true},
		{"LabelWithAnotherValue", ipam.Selector{MatchLabels: map[string]string{"site": "ams"}}, false},
		{"LabelThatIsAbsent", ipam.Selector{MatchLabels: map[string]string{"rack": ""}}, false},
		{"EmptyValueIsAValue", ipam.Selector{MatchLabels: map[string]string{"empty": ""}}, true},
		{"AllLabelsMustMatch", ipam.Selector{MatchLabels: map[string]string{"site": "fra", "tier": "dev"}}, false},
		{"In", one("site", ipam.OpIn, "ams", "fra"), true},
		{"InNone", one("site", ipam.OpIn, "ams"), false},
		{"InWhenAbsent", one("rack", ipam.OpIn, "1"), false},
		{"NotIn", one("site", ipam.OpNotIn, "ams"), true},
		{"NotInOne", one("site", ipam.OpNotIn, "ams", "fra"), false},
		{"NotInWhenAbsent", one("rack", ipam.OpNotIn, "1"), true},
		{"Exists", one("site", ipam.OpExists), true},
		{"ExistsNot", one("rack", ipam.OpExists), false},
		{"DoesNotExist", one("rack", ipam.OpDoesNotExist), true},
		{"DoesNotExistOnAPresentKey", one("site", ipam.OpDoesNotExist), false},
		{"UnknownOperatorMatchesNothing", one("site", "Like", "fra"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, c.selector.Matches(set))
		})
	}
	require.True(t, ipam.Selector{}.Matches(nil))
}

// kubernetes converts the selector to a Kubernetes selector. If Kubernetes refuses the selector, it returns the error.
func kubernetes(s ipam.Selector) (labels.Selector, error) {
	out := labels.NewSelector()
	add := func(key string, op selection.Operator, values ...string) error {
		r, err := labels.NewRequirement(key, op, values)
		if err == nil {
			out = out.Add(*r)
		}
		return err
	}
	for key, value := range s.MatchLabels {
		if err := add(key, selection.Equals, value); err != nil {
			return nil, err
		}
	}
	operators := map[ipam.Operator]selection.Operator{
		ipam.OpIn: selection.In, ipam.OpNotIn: selection.NotIn, ipam.OpExists: selection.Exists, ipam.OpDoesNotExist: selection.DoesNotExist,
	}
	for _, r := range s.MatchExpressions {
		if err := add(r.Key, operators[r.Operator], r.Values...); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// aSelector generates selectors from few keys and values, so that the selectors match often. Some keys and values are invalid.
func aSelector() *rapid.Generator[ipam.Selector] {
	keys := rapid.SampledFrom([]string{"a", "b", "example.com/c", "D", "", "-", "a/b/c", "x..y/z"})
	values := rapid.SampledFrom([]string{"", "1", "2", "x.Y_z-1", "not a value", "-"})
	requirement := rapid.Custom(func(t *rapid.T) ipam.Requirement {
		return ipam.Requirement{
			Key:      keys.Draw(t, "key"),
			Operator: rapid.SampledFrom([]ipam.Operator{ipam.OpIn, ipam.OpNotIn, ipam.OpExists, ipam.OpDoesNotExist}).Draw(t, "operator"),
			Values:   rapid.SliceOfN(values, 0, 3).Draw(t, "values"),
		}
	})
	return rapid.Custom(func(t *rapid.T) ipam.Selector {
		return ipam.Selector{
			MatchLabels:      rapid.MapOfN(keys, values, 0, 2).Draw(t, "matchLabels"),
			MatchExpressions: rapid.SliceOfN(requirement, 0, 3).Draw(t, "matchExpressions"),
		}
	})
}

func TestSelectorsMatchLikeKubernetes(t *testing.T) {
	t.Parallel()
	sets := rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "example.com/c", "D"}), rapid.SampledFrom([]string{"", "1", "2", "x.Y_z-1"}), 0, 4)
	both := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		s := aSelector().Draw(t, "selector")
		theirs, refusal := kubernetes(s)
		require.Equal(t, refusal == nil, s.Check("/s") == nil, "%+v: %v, %v", s, refusal, s.Check("/s"))
		if refusal != nil {
			return
		}
		set := sets.Draw(t, "labels")
		require.Equal(t, theirs.Matches(labels.Set(set)), s.Matches(set), "%+v of %v", s, set)
		both[s.Matches(set)]++
	})
	require.NotZero(t, both[true]*both[false], "the selectors drawn say both yes and no: %v", both)
}

func TestRefusedSelectorIsNamed(t *testing.T) {
	t.Parallel()
	many := make([]ipam.Requirement, ipam.MaxRequirements+1)
	values := make([]string, ipam.MaxRequirementValues+1)
	for i := range many {
		many[i] = ipam.Requirement{Key: fmt.Sprintf("k%d", i), Operator: ipam.OpExists}
	}
	expression := func(r ...ipam.Requirement) ipam.Selector { return ipam.Selector{MatchExpressions: r} }
	good := ipam.Requirement{Key: "a", Operator: ipam.OpExists}
	for want, s := range map[string]ipam.Selector{
		"/s":                             expression(many...),
		"/s/matchLabels":                 {MatchLabels: map[string]string{"not a key": ""}},
		"/s/matchLabels/a":               {MatchLabels: map[string]string{"a": "not a value"}},
		"/s/matchExpressions/1/key":      expression(good, ipam.Requirement{Operator: ipam.OpExists}),
		"/s/matchExpressions/1/operator": expression(good, ipam.Requirement{Key: "a", Operator: "in", Values: []string{"1"}}),
		"/s/matchExpressions/0/values":   expression(ipam.Requirement{Key: "a", Operator: ipam.OpIn}),
		"/s/matchExpressions/1/values":   expression(good, ipam.Requirement{Key: "a", Operator: ipam.OpDoesNotExist, Values: []string{"1"}}),
		"/s/matchExpressions/2/values":   expression(good, good, ipam.Requirement{Key: "a", Operator: ipam.OpNotIn, Values: values}),
		"/s/matchExpressions/0/values/1": expression(ipam.Requirement{Key: "a", Operator: ipam.OpIn, Values: []string{"1", strings.Repeat("x", 64)}}),
	} {
		require.Equal(t, want, pointer(t, s.Check("/s"), ipam.CodeInvalidArgument))
	}
	require.NoError(t, expression(many[1:]...).Check("/s"))
	require.NoError(t, expression(ipam.Requirement{Key: "a", Operator: ipam.OpIn, Values: values[1:]}).Check("/s"))
}
