package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// names are sorted by their bytes, as in every engine: a dash before digits, and digits before letters. A database with another collation would sort
// some of these names differently.
var names = []string{"0", "a", "a-b", "a0", "aa", "ab", "b", "b-a", "z"}

// inPages reads a list in pages of every size and checks that it returns each row once, in order. Each page continues after
// the key of the last row before it.
func inPages[T, K any](t testing.TB, start K, list func(after K, limit int) ([]T, error), key func(T) K, want []K) {
	t.Helper()
	for limit := 1; limit <= len(want)+1; limit++ {
		got, after := make([]K, 0, len(want)), start
		for {
			page, err := list(after, limit)
			require.NoError(t, err)
			require.LessOrEqual(t, len(page), limit)
			for _, row := range page {
				after = key(row)
				got = append(got, after)
			}
			if len(page) < limit {
				break
			}
			require.LessOrEqual(t, len(got), len(want), "pages of %d do not end", limit)
		}
		require.Equal(t, want, got, "in pages of %d", limit)
	}
}
