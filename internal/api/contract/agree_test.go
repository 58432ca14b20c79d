package contract

import (
	"regexp"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCheckAgreesWithTheValidator(t *testing.T) {
	t.Parallel()
	for _, p := range pairs(t, func(*openapi3.T) {}) {
		t.Run(p.op.ID, func(t *testing.T) {
			t.Parallel()
			accepted := 0
			rapid.Check(t, func(t *rapid.T) {
				q := questions(p).Draw(t, "request")
				wrong, accepts := p.disagreement(t, q)
				require.Empty(t, wrong, q.String())
				if accepts {
					accepted++
				}
			})
			require.NotZero(t, accepted, "no request was accepted")
		})
	}
}

// The comparison must detect a check that is wrong in one keyword.
func TestComparisonDetectsAWrongCheck(t *testing.T) {
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
			require.True(t, finds(t, pairs(t, loosen), "createClaim", 60_000), "60,000 requests did not show it")
		})
	}
}

// finds reports whether one of the first requests for an operation shows a disagreement.
func finds(t *testing.T, all []pair, id string, tries int) bool {
	t.Helper()
	for _, p := range all {
		if p.op.ID != id {
			continue
		}
		ask := questions(p)
		for seed := range tries {
			if wrong, _ := p.disagreement(t, ask.Example(seed)); wrong != "" {
				return true
			}
		}
	}
	return false
}

func TestEveryBoundBodyIsCompared(t *testing.T) {
	t.Parallel()
	for _, p := range pairs(t, func(*openapi3.T) {}) {
		require.Equal(t, p.op.MediaType == JSON, bodies[p.op.ID] != nil, p.op.ID)
	}
}

// Check ignores keywords that it does not know. So the schemas of requests must not have any.
func TestCheckKnowsEveryKeyword(t *testing.T) {
	t.Parallel()
	seen := map[*openapi3.Schema]bool{}
	var known func(at string, ref *openapi3.SchemaRef)
	known = func(at string, ref *openapi3.SchemaRef) {
		if ref == nil || seen[ref.Value] {
			return
		}
		s := *ref.Value
		seen[ref.Value] = true
		for name, property := range s.Properties {
			known(at+"."+name, property)
		}
		known(at+"[]", s.Items)
		known(at+".*", s.AdditionalProperties.Schema)
		s.Extensions, s.Origin, s.Title, s.Description, s.Default, s.Example, s.Deprecated = nil, nil, "", "", nil, nil, false
		switch {
		case len(s.AllOf) == 1:
			known(at, s.AllOf[0])
			s.AllOf = nil
		case s.Type.Is(openapi3.TypeObject):
			s.Properties, s.Required, s.MinProps, s.MaxProps, s.AdditionalProperties = nil, nil, 0, nil, openapi3.AdditionalProperties{}
		case s.Type.Is(openapi3.TypeArray):
			s.Items, s.MinItems, s.MaxItems, s.UniqueItems = nil, 0, nil, false
		case s.Type.Is(openapi3.TypeInteger):
			require.NotNil(t, s.Min, at)
			require.NotNil(t, s.Max, at)
			require.Contains(t, []string{"", "int64"}, s.Format, at)
			s.Min, s.Max, s.Format = nil, nil, ""
		case s.Type.Is(openapi3.TypeString):
			_, err := regexp.Compile(s.Pattern)
			require.NoError(t, err, at)
			require.Contains(t, []string{"", "date-time"}, s.Format, at)
			s.MinLength, s.MaxLength, s.Pattern, s.Enum, s.Format = 0, nil, "", nil, ""
		default:
			require.True(t, s.Type.Is(openapi3.TypeBoolean), at)
		}
		s.Type, s.Nullable = nil, false
		require.Equal(t, openapi3.Schema{}, s, at)
	}
	for _, p := range pairs(t, func(*openapi3.T) {}) {
		for _, ref := range p.op.parameters {
			known(p.op.ID+" "+ref.Value.Name, ref.Value.Schema)
			require.Nil(t, ref.Value.Content)
			require.Contains(t, []string{"path", "query", "header"}, ref.Value.In)
			require.Equal(t, ref.Value.Schema.Value.Type.Is(openapi3.TypeArray), ref.Value.Style == "form" && ref.Value.Explode != nil && !*ref.Value.Explode)
		}
		if body := p.route.Operation.RequestBody; body != nil {
			require.Len(t, body.Value.Content, 1)
			known(p.op.ID, body.Value.Content.Get(p.op.MediaType).Schema)
		}
	}
}
