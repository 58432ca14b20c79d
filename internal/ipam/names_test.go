package ipam_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/ipam"
)

// awkward generates strings. Many of them are almost valid names.
func awkward(longest int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		s := rapid.StringOfN(rapid.SampledFrom([]rune("aZ9-_./ é\n")), 0, 12, -1).Draw(t, "some")
		if rapid.Bool().Draw(t, "long") {
			n := rapid.IntRange(longest-2, longest+2).Draw(t, "length")
			s = strings.Repeat("a", max(0, n-len(s))) + s
		}
		return s
	})
}

func TestNamesAreKubernetesDNSLabels(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := awkward(ipam.MaxName).Draw(t, "name")
		require.Equal(t, len(validation.IsDNS1123Label(s)) == 0, ipam.ValidName(s), "%q", s)
	})
	for s, want := range map[string]bool{
		"a": true, "0": true, "a-b": true, "a--b": true, strings.Repeat("a", 63): true,
		"": false, "-a": false, "a-": false, "A": false, "a.b": false, "a b": false, "a\n": false, "ä": false, strings.Repeat("a", 64): false,
	} {
		require.Equal(t, want, ipam.ValidName(s), "%q", s)
	}
}

func TestGeneratedNamesAreValid(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		name := ipam.GenerateName("web-", 0, ipam.NewID())
		require.True(t, ipam.ValidName(name), name)
		require.Len(t, name, len("web-")+6)
		require.NotRegexp(t, "[aeiou]", name[4:], "no accidental words")
		require.False(t, seen[name], name)
		seen[name] = true
	}
	longest := strings.Repeat("a", ipam.MaxGenerateName)
	require.True(t, ipam.ValidGenerateName(longest))
	require.True(t, ipam.ValidName(ipam.GenerateName(longest, 0, ipam.NewID())))
	for s, want := range map[string]bool{"a-": true, "a": true, "": false, "-a": false, "A": false, "a.": false, longest + "a": false} {
		require.Equal(t, want, ipam.ValidGenerateName(s), "%q", s)
	}
}

func TestRenameKeepsThePrefix(t *testing.T) {
	t.Parallel()
	m := ipam.Metadata{Name: "web-1", GeneratedFrom: "web-"}
	require.True(t, m.Rename())
	require.NotEqual(t, "web-1", m.Name)
	require.True(t, strings.HasPrefix(m.Name, "web-"))
	own := ipam.Metadata{Name: "mine"}
	require.False(t, own.Rename())
	require.Equal(t, "mine", own.Name)
}

func TestReferenceIsPrintedWithItsProject(t *testing.T) {
	t.Parallel()
	require.Equal(t, "acme/net", ipam.Ref{Project: "acme", Name: "net"}.String())
}

func TestJSONPointerTokensAreEscaped(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{"": "", "a": "a", "a/b": "a~1b", "a~b": "a~0b", "~1": "~01", "é/": "é~1"} {
		require.Equal(t, want, ipam.EscapePointer(token))
	}
}
