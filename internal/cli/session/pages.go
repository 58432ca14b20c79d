package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// largestPage is the maximum number of items that the contract allows on a page.
const largestPage = 500

// Paging has the flags that all list commands have.
type Paging struct {
	Limit       int
	Cursor      string
	Consistency string

	// Total counts the items in several lists that are read concurrently. If it is set, the caller must call ProgressEnds after the last list.
	Total *atomic.Int64
	// Drop discards the items after the watch functions of Pages have received them.
	Drop bool
}

// Fetch reads one page. paging has the page's query parameters: limit, cursor and consistency.
type Fetch func(ctx context.Context, paging Query) (Answer, error)

// Fetch returns a function that reads a list's pages.
func (s *Session) Fetch(path []string, filters Query) Fetch {
	return func(ctx context.Context, paging Query) (Answer, error) {
		return s.Ask(ctx, Request{Path: path, Query: append(slices.Clip(filters), paging...)})
	}
}

// Pages reads the pages of a list up to its end or up to the limit. If it stops at the limit, NextCursor is the position of the next item. It passes
// the document of each page to the functions in watch.
func (s *Session) Pages(ctx context.Context, l Paging, fetch Fetch, watch ...func(doc json.RawMessage) error) (show.Page, error) {
	if l.Limit < 0 {
		return show.Page{}, exit.Usagef("--limit must not be negative")
	}
	all := show.Page{Items: []json.RawMessage{}}
	cursor, readAt, read, total := l.Cursor, "", 0, l.Total
	if total == nil {
		total = &atomic.Int64{}
	}
	for {
		size := largestPage
		if l.Limit > 0 {
			size = min(size, l.Limit-read)
		}
		a, err := fetch(ctx, Query{}.With("limit", strconv.Itoa(size)).With("cursor", cursor).With("consistency", l.Consistency))
		if err != nil {
			return show.Page{}, err
		}
		if at := a.Header.Get("Carve-Read-At"); readAt == "" || at != "" && at < readAt {
			readAt = at
		}
		var p show.Page
		if err := json.Unmarshal(a.Body, &p); err != nil {
			return show.Page{}, fmt.Errorf("cannot read the list: %w", err)
		}
		for _, w := range watch {
			if err := w(a.Body); err != nil {
				return show.Page{}, err
			}
		}
		read += len(p.Items)
		if !l.Drop {
			all.Items = append(all.Items, p.Items...)
		}
		s.Progress("%d read", total.Add(int64(len(p.Items))))
		cursor = p.NextCursor
		if cursor == "" && l.Total == nil {
			s.ProgressEnds()
		}
		if cursor == "" || l.Limit > 0 && read >= l.Limit {
			all.NextCursor = cursor
			if readAt != "" {
				s.Remark("this is the region's data of %s; later changes may be missing", readAt)
			}
			return all, nil
		}
	}
}
