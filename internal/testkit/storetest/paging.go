package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// names are in the order of their bytes, which is the order of names on every engine: digits, then letters, and a dash before
// both. Databases with a collation of their own put some of them elsewhere.
var names = []string{"0", "a", "a-b", "a0", "aa", "ab", "b", "b-a", "z"}

// inPages walks a list page by page with every page size and demands each row once, in order. Between two pages
// nothing is remembered but the place where the last one ended.
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
