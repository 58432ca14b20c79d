package client

import (
	"fmt"
	"iter"
)

// place is where a page begins and how much it may hold: what the parameters of every list have in common.
type place struct {
	limit  *Limit
	cursor *Cursor
}

// pages goes through a list, page by page as it is asked for: the next page is fetched when the last item of the one before
// was taken. limit is the most that a page may hold, as the caller set it; nil leaves that to the server. It ends with the
// first error, which comes with an empty item.
func pages[T any](limit *Limit, from *Cursor, fetch func(at place) (items []T, next NextCursor, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		at := place{limit: limit, cursor: from}
		for {
			items, next, err := fetch(at)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			if at.cursor != nil && next == *at.cursor {
				var none T
				yield(none, fmt.Errorf("client: the server's next page is the same again: %q", next))
				return
			}
			at.cursor = &next
		}
	}
}
