package show

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// Sorted iterates over a map in the order of its keys.
func Sorted[K cmp.Ordered, V any](m map[K]V) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
