package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/carve-ipam/carve/client"
)

// Changes reads the changes of the project after a position in the change feed. The position "" means now. If there are no changes, the server waits
// for at most the given number of seconds. Changes also returns the response's document.
func (s *Session) Changes(ctx context.Context, filters Query, after client.ChangesCursor, seconds int) (*client.ChangeList, json.RawMessage, error) {
	q := filters.With("after", after).With("waitSeconds", strconv.Itoa(seconds))
	a, err := s.Ask(ctx, Request{Path: s.In("changes"), Query: q, wait: time.Duration(seconds) * time.Second})
	if err != nil {
		return nil, nil, err
	}
	var list client.ChangeList
	if err := json.Unmarshal(a.Body, &list); err != nil {
		return nil, nil, fmt.Errorf("cannot read the server's response: %w", err)
	}
	return &list, a.Body, nil
}
