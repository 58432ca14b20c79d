package client

import (
	"fmt"
	"iter"
	"net/http"
)

// pages returns a list as a sequence. When the loop has taken the last item of a page, the sequence fetches the next page. fetch requests the page
// at *cursor, and pages sets *cursor before each request. The first error comes with a zero item and ends the sequence. If the server returns the same
// cursor twice, that is also an error, because the loop would never end.
func pages[T any](cursor **Cursor, fetch func() (*http.Response, error)) iter.Seq2[T, error] {
	first := *cursor
	return func(yield func(T, error) bool) {
		for at := first; ; {
			*cursor = at
			page, err := read[struct {
				Items      []T        `json:"items"`
				NextCursor NextCursor `json:"nextCursor"`
			}](fetch()) //nolint:bodyclose // read closes it
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			switch next := page.NextCursor; {
			case next == "":
				return
			case at != nil && next == *at:
				yield(*new(T), fmt.Errorf("client: the server's next page is the same again: %q", next))
				return
			default:
				at = &next
			}
		}
	}
}
