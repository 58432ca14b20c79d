package overlay

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTextIsReplacedOnlyIfItOccursOnce(t *testing.T) {
	t.Parallel()
	got, err := Replaced("if a {\n}\n", "if a {", "if a && b {")
	require.NoError(t, err)
	require.Equal(t, "if a && b {\n}\n", got)
	for _, source := range []string{"if c {\n}\n", "if a {\n}\nif a {\n}\n"} {
		_, err := Replaced(source, "if a {", "if a && b {")
		require.ErrorContains(t, err, `"if a {"`, "it says which text")
	}
}
