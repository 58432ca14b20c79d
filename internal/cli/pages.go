package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

// largestPage is the most items the contract lets a page hold.
const largestPage = 500

// paging are the flags of every list.
type paging struct {
	limit       int
	cursor      string
	consistency string
}

func (l *paging) add(cmd *cobra.Command) {
	cmd.Flags().IntVar(&l.limit, "limit", 0, "stop after this many (default: all there are)")
	cmd.Flags().StringVar(&l.cursor, "cursor", "", "go on where a list with --limit stopped, at its `CURSOR`")
	of := []client.Consistency{client.ConsistencyStrong, client.ConsistencyStale}
	cmd.Flags().Var(newChoice(&l.consistency, "", of...), "consistency",
		"what the server has to know of other regions; stale answers at once, and may be some seconds old: "+words(of))
	completeWords(cmd, "consistency", of)
}

// page is the shape of every list. The items stay as they came.
type page struct {
	Items      []json.RawMessage `json:"items"`
	NextCursor string            `json:"nextCursor,omitempty"`
}

// fetch asks for one page; paging are its parameters beside the filters.
type fetch func(ctx context.Context, paging query) (answer, error)

// pages asks for page after page until there is no more or the limit is reached; then NextCursor says where to go on.
// Each page is shown to the watchers as it came.
func (s *session) pages(ctx context.Context, l paging, fetch fetch, watch ...func(doc json.RawMessage) error) (page, error) {
	if l.limit < 0 {
		return page{}, usagef("--limit must not be negative")
	}
	all := page{Items: []json.RawMessage{}}
	cursor, readAt := l.cursor, ""
	for {
		size := largestPage
		if l.limit > 0 {
			size = min(size, l.limit-len(all.Items))
		}
		a, err := fetch(ctx, query{}.with("limit", strconv.Itoa(size)).with("cursor", cursor).with("consistency", l.consistency))
		if err != nil {
			return page{}, err
		}
		if at := a.header.Get("Carve-Read-At"); readAt == "" || at != "" && at < readAt {
			readAt = at
		}
		var p page
		if err := json.Unmarshal(a.body, &p); err != nil {
			return page{}, fmt.Errorf("cannot read the list: %w", err)
		}
		for _, w := range watch {
			if err := w(a.body); err != nil {
				return page{}, err
			}
		}
		all.Items = append(all.Items, p.Items...)
		cursor = p.NextCursor
		if cursor == "" || l.limit > 0 && len(all.Items) >= l.limit {
			all.NextCursor = cursor
			if readAt != "" {
				s.remark("this is what the region knew at %s; what was written since may be missing", readAt)
			}
			return all, nil
		}
	}
}

// decode reads documents.
func decode[T any](docs []json.RawMessage) ([]T, error) {
	items := make([]T, len(docs))
	for i, doc := range docs {
		if err := json.Unmarshal(doc, &items[i]); err != nil {
			return nil, fmt.Errorf("cannot read the server's answer: %w", err)
		}
	}
	return items, nil
}
