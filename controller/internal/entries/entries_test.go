package entries_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/entries"
)

func pod(text string) *core.Pod {
	return &core.Pod{ObjectMeta: meta.ObjectMeta{Annotations: map[string]string{ipam.ClaimsAnnotation: text}}}
}

//
func TestInvalidEntryIsAnError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[{"name": "a", "template": "t", "colour": "red"}]`: `unknown field`,
		`[{"name": "a", "Template": "t"}]`:                  `unknown field`,
		`[{"name": "a", "name": "b", "template": "t"}]`:     `duplicate field`,
		`[{"name": "a"}]`: "exactly one of template and claim",
		`[{"name": "a", "template": "t", "claim": "c"}]`:                "exactly one of template and claim",
		`[{"name": "", "template": "t"}]`:                               "lower case letters",
		`[{"name": "a.b", "template": "t"}]`:                            "lower case letters",
		`[{"name": "a", "template": "T t"}]`:                            "not a valid name",
		`[{"name": "a", "template": "t"}, {"name": "a", "claim": "c"}]`: "listed twice",
		`{"name": "a", "template": "t"}`:                                "cannot unmarshal",
		`[{"name": "a", "template": "t"}] x`:                            "invalid character",
		"":                                                              "unexpected end",
		"[" + strings.TrimSuffix(strings.Repeat(`{"name": "a", "template": "t"},`, 33), ",") + "]": "maximum of 32",
	} {
		_, err := entries.Of(pod(text))
		require.ErrorContains(t, err, want, text)
	}
	all, err := entries.Of(pod(`[{"name": "a", "template": "t", "interface": "eth1"}, {"name": "b", "claim": "c"}]`))
	require.NoError(t, err)
	require.Equal(t, []entries.Entry{{Name: "a", Template: "t", Interface: "eth1"}, {Name: "b", Claim: "c"}}, all)
	all, err = entries.Of(&core.Pod{})
	require.NoError(t, err)
	require.Empty(t, all)
}

// R-2; scenario 40.
func TestClaimNamesAreValidUniqueAndShowPodAndEntry(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, of := range []string{"a", "web-0", "db.example", strings.Repeat("long.", 50) + "x", strings.Repeat("p", 253)} {
		for _, entry := range []string{"n", "net1", strings.Repeat("e", 63), "x-" + strings.Repeat("y-", 30) + "z"} {
			for _, uid := range []types.UID{"u1", "u2"} {
				for attempt := range entries.Attempts {
					name := entries.ClaimName(of, uid, entry, attempt)
					require.Equal(t, name, entries.ClaimName(of, uid, entry, attempt), "it is a function")
					require.False(t, seen[name], name)
					seen[name] = true
					require.LessOrEqual(t, len(name), 63)
					require.Empty(t, validation.IsDNS1123Subdomain(name), name)
					require.Equal(t, of[:1], name[:1])
					require.Contains(t, name, "-"+entry[:1])
				}
			}
		}
	}
}

func TestStatusAnnotationIsReadBack(t *testing.T) {
	t.Parallel()
	told := entries.Outcomes{"a": {Claim: "c", CIDR: "10.0.0.1/32", Address: "10.0.0.1"}, "b": {Claim: "d"}}
	require.JSONEq(t, `{"a":{"claim":"c","cidr":"10.0.0.1/32","address":"10.0.0.1"},"b":{"claim":"d"}}`, told.String())
	p := &core.Pod{ObjectMeta: meta.ObjectMeta{Annotations: map[string]string{ipam.StatusAnnotation: told.String()}}}
	require.Equal(t, told, entries.OutcomesOf(p))
	p.Annotations[ipam.StatusAnnotation] = "?"
	require.Empty(t, entries.OutcomesOf(p))
}
