package client

import (
	"fmt"
	"iter"
)

// place has the two parameters of every list: the maximum size of a page and the cursor at which the page starts.
type place struct {
	limit  *Limit
	cursor *Cursor
}

// pages returns a list as a sequence. When the loop has taken the last item of a page, the sequence fetches the next page. limit is the maximum page
// size that the caller asked for. If limit is nil, the server chooses the size. The first error comes with a zero item and ends the sequence. If the
// server returns the same cursor twice, that is also an error, because the loop would never end.
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
