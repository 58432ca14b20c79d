package ipam_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/ipam"
)

// pointer returns the pointer to the first invalid part in a refusal.
func pointer(t require.TestingT, err error, code ipam.Code) string {
	var e *ipam.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, code, e.Code, "%v", err)
	require.NotEmpty(t, e.Fields)
	require.NotEmpty(t, e.Fields[0].Detail)
	return e.Fields[0].Pointer
}

func TestLabelsAreValidatedLikeKubernetes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key := awkward(rapid.SampledFrom([]int{ipam.MaxLabelKeyName, ipam.MaxLabelKeyPrefix}).Draw(t, "border")).Draw(t, "key")
		if rapid.Bool().Draw(t, "prefixed") {
			key += "/" + awkward(ipam.MaxLabelKeyName).Draw(t, "name")
		}
		require.Equal(t, len(validation.IsQualifiedName(key)) == 0, ipam.ValidLabelKey(key), "%q", key)
		value := awkward(ipam.MaxLabelValue).Draw(t, "value")
		good := len(validation.IsValidLabelValue(value)) == 0
		require.Equal(t, good, ipam.CheckLabels("/labels", map[string]string{"key": value}) == nil, "%q", value)
	})
	for key, want := range map[string]bool{
		"a": true, "A_b.c-9": true, "example.com/a": true, "a-b.c/A": true, strings.Repeat("a", 253) + "/" + strings.Repeat("b", 63): true,
		"": false, "/a": false, "a/": false, "a/b/c": false, "Example.com/a": false, "a..b/c": false, "a.-b/c": false, "-a": false, "a\n": false,
		strings.Repeat("a", 254) + "/b": false, "a/" + strings.Repeat("b", 64): false,
	} {
		require.Equal(t, want, ipam.ValidLabelKey(key), "%q", key)
	}
}

func TestRefusedLabelsAreNamed(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range ipam.MaxLabels {
		many[fmt.Sprintf("k%d", i)] = ""
	}
	require.NoError(t, ipam.CheckLabels("/labels", many))
	require.NoError(t, ipam.CheckAnnotations("/annotations", many))
	many["one-more"] = ""
	for want, err := range map[string]error{
		"/labels":           ipam.CheckLabels("/labels", many),
		"/x":                ipam.CheckLabels("/x", map[string]string{"not a key": ""}),
		"/labels/a.b~1c":    ipam.CheckLabels("/labels", map[string]string{"a.b/c": "not a value"}),
		"/annotations":      ipam.CheckAnnotations("/annotations", many),
		"/y":                ipam.CheckAnnotations("/y", map[string]string{"not a key": ""}),
		"/annotations/z":    ipam.CheckAnnotations("/annotations", map[string]string{"z": "\x00"}),
		"/annotations/long": ipam.CheckAnnotations("/annotations", map[string]string{"long": strings.Repeat("a", ipam.MaxAnnotationValue+1)}),
	} {
		require.Equal(t, want, pointer(t, err, ipam.CodeInvalidArgument))
	}
	require.NoError(t, ipam.CheckAnnotations("/annotations", map[string]string{"k": strings.Repeat("é", ipam.MaxAnnotationValue/2)}), "bytes are counted")
}

func TestFreeTextIsValidated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		lines bool
		good  bool
	}{
		{"", false, true}, {"Grüße, 世界 🌍", false, true}, {"1234567890123456789", false, true}, {"12345678901234567890", false, true},
		{"123456789012345678901", false, false}, {"a\nb", false, false}, {"a\nb\tc\r", true, true}, {"a\x00b", true, false},
		{"a\x7fb", true, false}, {"a\u0085b", true, false}, {"a\x1bb", false, false}, {"\xff", true, false}, {"a\xc3", false, false},
	} {
		err := ipam.CheckText("/text", c.text, 20, c.lines)
		if c.good {
			require.NoError(t, err, "%q", c.text)
			continue
		}
		require.Equal(t, "/text", pointer(t, err, ipam.CodeInvalidArgument), "%q", c.text)
	}
}
