package show

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnyTextRoundTripsThroughYAML(t *testing.T) {
	t.Parallel()
	parts := []string{
		"a", "word", " ", "  ", "\n", "\r\n", "\r", "\t", ",", "\"", "'", "\\", "-", "- a", "# c", "a: b", "{a}", "[", "|", ">", "&a", "*a", "!t", "%", "`",
		"ä", "日本", "👩\u200d💻", "\u00a0", "\u2028", "\u2029", "\u200b", "\ufeff", "\ufffd", "\u202e", "\U000e0001", "~", "null", "yes", "0x1", "1e3", "<<", "---", "...", "?", "=",
	}
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 1000 {
		var b strings.Builder
		for range r.IntN(6) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		text := []string{"<<", "\t\n", " a\nb", b.String()}[min(n, 3)]
		want := map[string]any{"list": []any{map[string]any{"text": text, "z": "last"}}, text: "key"}
		doc, err := json.Marshal(want)
		require.NoError(t, err)
		shown, err := yamlOf(doc)
		require.NoError(t, err, "%d: %q", n, text)
		again, err := JSONOf(shown)
		require.NoError(t, err, "%d: %q: %s", n, text, shown)
		var got map[string]any
		require.NoError(t, json.Unmarshal(again, &got))
		require.Equal(t, want, got, "%d: %q: %s", n, text, shown)
	}
}

// JSON reaches the server unchanged, but bytes that are not UTF-8 would become other characters.
func TestInvalidUTF8IsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{\"a\":\n\"B\xfcro\"}", "a:\n  - B\xfcro\n"} {
		_, err := JSONOf([]byte(text))
		require.Error(t, err)
	}
	_, err := JSONOf([]byte("{\"a\":\n\"B\xfcro\"}"))
	require.ErrorContains(t, err, "line 2 is not UTF-8")
}
