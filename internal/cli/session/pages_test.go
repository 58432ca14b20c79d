package session

import (
	"bytes"
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// The test uses the clock of a synctest bubble. That clock does not advance while code runs.
func TestListProgressCountsItemsOfAllLists(t *testing.T) {
	t.Parallel()
	for name, paging := range map[string]Paging{"Kept": {Total: &atomic.Int64{}}, "ReadByTheWatcher": {Total: &atomic.Int64{}, Drop: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var aside bytes.Buffer
				s := &Session{Program: &Program{Printer: &show.Printer{Aside: &aside, Watched: true, Hide: func(text string) string { return text }}}}
				pages := []json.RawMessage{json.RawMessage(`{"items": [1, 2, 3], "nextCursor": "x"}`), json.RawMessage(`{"items": [4, 5]}`)}
				seen := 0
				for range 2 {
					at := 0
					_, err := s.Pages(t.Context(), paging, func(context.Context, Query) (Answer, error) {
						<-time.After(time.Second)
						at++
						return Answer{Body: pages[at-1]}, nil
					}, func(json.RawMessage) error { seen++; return nil })
					require.NoError(t, err)
				}
				require.Equal(t, 4, seen)
				require.Contains(t, aside.String(), "10 read, 3 s")
				require.NotContains(t, aside.String(), "0 read, 1 s")
			})
		})
	}
}
