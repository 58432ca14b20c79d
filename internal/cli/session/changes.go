package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/carve-ipam/carve/client"
)

// Changes asks the feed of the project what has changed since a place; empty is now. When there is nothing, the server waits so many seconds for it.
// It answers the document too, as it came.
func (s *Session) Changes(ctx context.Context, filters Query, after client.ChangesCursor, seconds int) (*client.ChangeList, json.RawMessage, error) {
	q := filters.With("after", after).With("waitSeconds", strconv.Itoa(seconds))
	a, err := s.Ask(ctx, Request{Path: s.In("changes"), Query: q, wait: time.Duration(seconds) * time.Second})
	if err != nil {
		return nil, nil, err
	}
	var list client.ChangeList
	if err := json.Unmarshal(a.Body, &list); err != nil {
		return nil, nil, fmt.Errorf("cannot read the server's answer: %w", err)
	}
	return &list, a.Body, nil
}
