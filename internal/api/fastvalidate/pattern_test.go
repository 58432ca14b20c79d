package fastvalidate

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/api/gen"
)

// expressions returns the patterns of the contract.
func expressions(t *testing.T) []string {
	t.Helper()
	data, err := gen.GetSpecJSON()
	require.NoError(t, err)
	var doc any
	require.NoError(t, json.Unmarshal(data, &doc))
	var all []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if p, ok := v["pattern"].(string); ok && !slices.Contains(all, p) {
				all = append(all, p)
			}
			for _, each := range v {
				walk(each)
			}
		case []any:
			for _, each := range v {
				walk(each)
			}
		}
	}
	walk(doc)
	slices.Sort(all)
	require.NotEmpty(t, all)
	return all
}

func TestPatternTableMatchesLikeItsExpression(t *testing.T) {
	t.Parallel()
	all := append(expressions(t), `^$`, `^a`, `^a|b$`, `a`, `^(a|ab)(c|bcd)$`, `^a*b?$`, `(?i)^straße$`, `^[^a]$`, `^.$`, `^a\b`, `(?m)^a$`, `^(?:x|^y)z$`, `^a$|^b$`)
	for _, expression := range all {
		t.Run(expression, func(t *testing.T) {
			t.Parallel()
			p := newPattern(expression)
			require.NotNil(t, p)
			of := rapid.StringMatching(expression)
			letters := rapid.StringOfN(rapid.SampledFrom([]rune("abcxyzAZ019-._/:=@ \n\x00\x7fé")), 0, 70, -1)
			rapid.Check(t, func(t *rapid.T) {
				s := rapid.OneOf(of, letters).Draw(t, "text")
				if at := rapid.IntRange(-1, len(s)-1).Draw(t, "at"); at >= 0 {
					s = s[:at] + string(rapid.RuneFrom([]rune("aZ0-_./\"\n")).Draw(t, "rune")) + s[at+1:]
				}
				require.Equal(t, p.re.MatchString(s), match(p, s), "%q", s)
			})
		})
	}
}

func TestContractPatternsHaveTables(t *testing.T) {
	t.Parallel()
	without := 0
	for _, expression := range expressions(t) {
		if newPattern(expression).next == nil {
			without++
		}
	}
	require.LessOrEqual(t, without, 5, "but for the keys of labels, references in filters, names of what changes, subjects and UIDs of consumers, which are long")
}

func TestInvalidGoExpressionHasNoPattern(t *testing.T) {
	t.Parallel()
	require.Nil(t, newPattern(`(`))
	require.Nil(t, newPattern(`^\u00e9$`))
}

func BenchmarkPattern(b *testing.B) {
	const name = `^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`
	p, text := newPattern(name), []byte("w-0-000001")
	b.Run("Table", func(b *testing.B) {
		for b.Loop() {
			match(p, text)
		}
	})
	b.Run("Regexp", func(b *testing.B) {
		for b.Loop() {
			p.re.Match(text)
		}
	})
}
