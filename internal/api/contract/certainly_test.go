package contract

import (
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestFastPathMatchesFullValidationAndBinding(t *testing.T) {
	t.Parallel()
	for _, p := range pairs(t, func(*openapi3.T) {}) {
		t.Run(p.op.ID, func(t *testing.T) {
			t.Parallel()
			certain := 0
			rapid.Check(t, func(t *rapid.T) {
				q := questions(p).Draw(t, "request")
				wrong, sure := p.disagreement(q)
				require.Empty(t, wrong, q.String())
				if sure {
					certain++
				}
			})
			// The fast path never accepts a patch. It never accepts an operation with a required query parameter, or with a parameter that may be a list.
			if (p.op.MediaType == "" || p.op.MediaType == JSON) && !slices.Contains([]string{"getHistory", "listChanges", "search"}, p.op.ID) {
				require.NotZero(t, certain, "nothing was certain, so nothing was compared")
			}
		})
	}
}

// The comparison must detect a fast path that is wrong in one keyword.
func TestComparisonDetectsAWrongFastPath(t *testing.T) {
	t.Parallel()
	many := uint64(1000)
	high := 1000.0
	for what, loosen := range map[string]func(doc *openapi3.T){
		"Pattern": func(doc *openapi3.T) { doc.Components.Schemas["Name"].Value.Pattern = "" },
		"MaxLength": func(doc *openapi3.T) {
			name := doc.Components.Schemas["Name"].Value
			name.MaxLength, name.Pattern = &many, "^[-a-z0-9]*$"
		},
		"Maximum":  func(doc *openapi3.T) { doc.Components.Schemas["PrefixLength"].Value.Max = &high },
		"Required": func(doc *openapi3.T) { doc.Components.Schemas["IPClaimCreate"].Value.Required = nil },
		"Member": func(doc *openapi3.T) {
			p := doc.Components.Schemas["IPClaimCreate"].Value.Properties
			p["metadatas"] = p["metadata"]
		},
		"Enum": func(doc *openapi3.T) {
			f := doc.Components.Schemas["IPFamily"].Value
			f.Enum = append(f.Enum, "x")
		},
		"Type": func(doc *openapi3.T) {
			doc.Components.Schemas["PrefixLength"].Value.Type = &openapi3.Types{openapi3.TypeBoolean}
			doc.Components.Schemas["PrefixLength"].Value.Min, doc.Components.Schemas["PrefixLength"].Value.Max = nil, nil
		},
		"Parameter": func(doc *openapi3.T) { doc.Components.Parameters["IdempotencyKey"].Value.Schema.Value.Pattern = "" },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			require.True(t, finds(pairs(t, loosen), "createClaim", 60_000), "60,000 requests did not show it")
		})
	}
}

// finds reports whether one of the first requests for an operation shows a disagreement.
func finds(all []pair, id string, tries int) bool {
	for _, p := range all {
		if p.op.ID != id {
			continue
		}
		ask := questions(p)
		for seed := range tries {
			if wrong, _ := p.disagreement(ask.Example(seed)); wrong != "" {
				return true
			}
		}
	}
	return false
}

func TestEveryBoundBodyIsCompared(t *testing.T) {
	t.Parallel()
	k, err := Load()
	require.NoError(t, err)
	compared := map[string]bool{}
	for _, methods := range k.paths {
		for _, op := range methods {
			require.Equal(t, op.fast.body != nil, bodies[op.ID] != nil, op.ID)
			if op.fast.body != nil {
				require.False(t, op.fast.body.AcceptsNothing(), op.ID)
				compared[op.ID] = true
			}
		}
	}
	require.Len(t, compared, len(bodies))
}
