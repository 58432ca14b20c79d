package codec

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/ipam"
)

func TestLabelFilter(t *testing.T) {
	t.Parallel()
	one := func(key string, op ipam.Operator, values ...string) []ipam.Requirement {
		return []ipam.Requirement{{Key: key, Operator: op, Values: values}}
	}
	for text, want := range map[string][]ipam.Requirement{
		"a=b":                one("a", ipam.OpIn, "b"),
		"a==b":               one("a", ipam.OpIn, "b"),
		"a=":                 one("a", ipam.OpIn, ""),
		"a!=b":               one("a", ipam.OpNotIn, "b"),
		"e in (g,f)":         one("e", ipam.OpIn, "f", "g"),
		"h notin (i)":        one("h", ipam.OpNotIn, "i"),
		"example.com/j":      one("example.com/j", ipam.OpExists),
		"!k":                 one("k", ipam.OpDoesNotExist),
		" a = b , ! c , d  ": {{Key: "a", Operator: ipam.OpIn, Values: []string{"b"}}, {Key: "c", Operator: ipam.OpDoesNotExist}, {Key: "d", Operator: ipam.OpExists}},
	} {
		got, err := LabelFilter(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got.MatchExpressions, text)
		require.Empty(t, got.MatchLabels)
	}
	none, err := LabelFilter("")
	require.NoError(t, err)
	require.Nil(t, none)
	for _, text := range []string{",", "a b", "a in", "a in ()x", "a in (b", "=b", "a=b c", "a>1", "a<1", "?", "a/b/c", "a=-b", "ü=1"} {
		_, err := LabelFilter(text)
		var e *ipam.Error
		require.ErrorAs(t, err, &e, text)
		require.Equal(t, ipam.CodeInvalidArgument, e.Code)
		require.Equal(t, "query:labelSelector", e.Fields[0].Pointer)
	}
}

// A parsed selector must select the same labels as Kubernetes' own selector.
func TestLabelFilterMatchesLikeKubernetes(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom([]string{"a", "b", "c"})
	condition := rapid.Custom(func(t *rapid.T) string {
		key, x, y := word.Draw(t, "key"), word.Draw(t, "x"), word.Draw(t, "y")
		return rapid.SampledFrom([]string{key, "!" + key, key + "=" + x, key + "==" + x, key + "!=" + x, key + " in (" + x + "," + y + ")", key + " notin (" + x + "," + y + ")"}).Draw(t, "condition")
	})
	rapid.Check(t, func(t *rapid.T) {
		text := condition.Draw(t, "one") + "," + condition.Draw(t, "two")
		have := rapid.MapOf(word, word).Draw(t, "labels")
		theirs, err := labels.Parse(text)
		require.NoError(t, err)
		ours, err := LabelFilter(text)
		require.NoError(t, err)
		require.Equal(t, theirs.Matches(labels.Set(have)), ours.Matches(have), "%s on %v", text, have)
	})
}
