package e2e

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// withoutOrigins returns a response without the fields that may name the pool of the caller's block. These fields are poolRef of a claim, its
// allocation, its record and its history. In an explanation, they are poolRef of the expected claim, and the sentences and the step that repeat it.
// Refusals and other steps have no such field.
func (a answer) withoutOrigins() answer {
	var v any
	if _, refused := problemOf(a); refused || json.Unmarshal(a.body, &v) != nil {
		return a
	}
	a.body = marshal(withoutOrigins(v))
	return a
}

func withoutOrigins(v any) any {
	switch v := v.(type) {
	case obj:
		out := obj{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			switch {
			case name == "poolRef",
				name == "conditions" && v["poolRef"] != nil, // the conditions repeat the name of the pool
				name == "detail" && v["outcome"] == "Bound",
				name == "name" && v["kind"] == "pool" && v["outcome"] == "chosen":
			default:
				out[name] = withoutOrigins(v[name])
			}
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = withoutOrigins(out[i])
		}
		return out
	default:
		return v
	}
}

// The check must accept the name of the pool in poolRef and detect it in each other field.
func TestPoolBehindAClassIsNamedOnlyInPoolRef(t *testing.T) {
	t.Parallel()
	for body, says := range map[string]bool{
		`{"status":{"poolRef":{"name":"hidden"}}}`:                                      false,
		`{"status":{"poolRef":{"name":"x"},"conditions":[{"message":"of hidden"}]}}`:    false,
		`{"items":[{"status":{"poolRef":{"name":"hidden"}}}]}`:                          false,
		`{"outcome":"Bound","detail":"from hidden","poolRef":{"name":"hidden"}}`:        false,
		`{"outcome":"Bound","detail":"from hidden","steps":[{"name":"hidden"}]}`:        true,
		`{"outcome":"Bound","steps":[{"outcome":"chosen","detail":"hidden has room"}]}`: true,
		`{"outcome":"Refused","detail":"hidden is full"}`:                               true,
		`{"status":{"conditions":[{"message":"hidden"}]}}`:                              true,
	} {
		require.Equal(t, says, answer{body: []byte(body)}.withoutOrigins().says("hidden"), body)
	}
	refusal := answer{body: []byte(`{"poolRef":"hidden"}`), header: map[string][]string{"Content-Type": {"application/problem+json"}}}
	require.True(t, refusal.withoutOrigins().says("hidden"), "a refusal has no origin to name")
}
