package session

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBodiesInJSONAreSentUnchanged(t *testing.T) {
	t.Parallel()
	for _, body := range []any{[]byte(`{ "a":1}`), json.RawMessage(`{ "a":1}`)} {
		doc, err := documentOf(body)
		require.NoError(t, err)
		require.Equal(t, `{ "a":1}`, string(doc))
	}
	doc, err := documentOf(map[string]any{"a": "<"})
	require.NoError(t, err)
	require.JSONEq(t, `{"a":"<"}`, string(doc))
	require.Contains(t, string(doc), "<", "it is not escaped")
	for _, none := range []any{nil, []byte(nil), json.RawMessage(nil)} {
		doc, err := documentOf(none)
		require.NoError(t, err)
		require.Nil(t, doc)
	}
}
