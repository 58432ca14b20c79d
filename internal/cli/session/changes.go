package session

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/carve-ipam/carve/client"
)

// Changes reads the project's changes after a position in the change feed. The position "" means now. If there are no changes, the server waits
// for at most the given number of seconds. Changes also returns the response's document.
func (s *Session) Changes(ctx context.Context, filters Query, after client.ChangesCursor, seconds int) (*client.ChangeList, json.RawMessage, error) {
	q := filters.With("after", after).With("waitSeconds", strconv.Itoa(seconds))
	a, err := s.Ask(ctx, Request{Path: s.In("changes"), Query: q, wait: time.Duration(seconds) * time.Second})
	list, err := Into[client.ChangeList](a, err)
	return &list, a.Body, err
}
