package client

import (
	"fmt"
	"iter"
)

// place is a page's start and size limit, the parameters that every list has.
type place struct {
	limit  *Limit
	cursor *Cursor
}

// pages returns a list as a sequence. It fetches the next page after the loop has taken the previous page's last item. limit is the caller's bound on
// the page size; nil leaves it to the server. The sequence ends with the first error, which comes with a zero item. If the server returns the same
// cursor again, that is an error too.
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
