package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/cli/show"
)

func TestHiddenCharactersAreEscaped(t *testing.T) {
	t.Parallel()
	d := served(t)
	const hidden = "a\u202eb\u200bc\u2028d\U000e0041e\ufeff"
	const shown = "a<U+202E>b<U+200B>c<U+2028>d<U+E0041>e<U+FEFF>"
	d.ask(t, "PUT", "/v1/projects/team-a/claims/c", fields{
		"metadata": fields{"name": "c", "annotations": fields{"description": hidden}},
		"spec":     fields{"poolRef": fields{"name": "prod"}, "prefixLength": 32, "ownerRef": fields{"kind": "VM", "name": hidden, "uid": "u"}},
	})
	d.done("pool", "set", "prod", "--description", hidden)
	require.Contains(t, d.done("pool", "show", "prod").out, shown)
	require.Contains(t, d.done("claim", "list", "-o", "wide").out, shown)
	require.Contains(t, d.done("pool", "show", "prod", "-o", "custom-columns=D:.spec.description").out, shown)
	for _, format := range []string{"json", "yaml"} {
		out := d.done("pool", "show", "prod", "-o", format).out
		require.NotContains(t, out, "\u202e")
		require.Contains(t, out, `a\u202eb\u200bc`)
		doc, err := show.JSONOf([]byte(out))
		require.NoError(t, err)
		var pool fields
		require.NoError(t, json.Unmarshal(doc, &pool))
		require.Equal(t, hidden, member(pool, "spec.description"))
	}
	require.Contains(t, d.done("pool", "show", "prod", "-o", "jsonpath={.spec.description}").out, hidden, "a program gets the text as it is")
	r := d.run("claim", "show", "x\u202ey")
	require.NotContains(t, r.err, "\u202e")
}
