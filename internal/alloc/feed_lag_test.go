package alloc_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/feed"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// lagging is a store that can report an old position for the feed. The database does the same until its log is on disk. The store can also block the
// readers of the feed.
type lagging struct {
	storage.Store
	shut sync.RWMutex
	held *storage.FeedPosition
}

func (l *lagging) FeedRead(ctx context.Context, project storage.ProjectKey, from storage.FeedPosition, after ipam.ID, limit int) (storage.FeedPage, error) {
	l.shut.RLock()
	defer l.shut.RUnlock()
	page, err := l.Store.FeedRead(ctx, project, from, after, limit)
	if l.held != nil {
		page.Now.FeedPosition = *l.held
	}
	return page, err
}

func (l *lagging) hold(p *storage.FeedPosition) {
	l.shut.Lock()
	defer l.shut.Unlock()
	l.held = p
}

// A client polls with the cursor of each response, while the database reports an old position. The cursors must still advance, and the client must
// get all changes.
func TestFeedPollsAdvanceBehindAHeldPosition(t *testing.T) {
	t.Parallel()
	b := followable(t)
	store, _ := b.store(t)
	l := &lagging{Store: store}
	b.Service = alloc.New(l, alloc.Options{Region: region})
	t.Cleanup(b.EndFeed)
	first := b.follow(t, "", feed.Filter{})
	told(b.ctx, t, first, 100)

	in, err := b.GetProject(b.ctx, project)
	require.NoError(t, err)
	begin, err := store.RecentFeedState(b.ctx)
	require.NoError(t, err)
	const many, before = 80, 20 // more than the hub reads at once
	var amid storage.FeedPage
	l.shut.Lock() // otherwise the hub would read the changes one by one
	for i := range many {
		_, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim(fmt.Sprintf("c-%02d", i), "net", 32)}, usecase.Request{})
		require.NoError(t, err)
		if i+1 == before {
			amid, err = store.FeedRead(b.ctx, storage.ProjectKey{ID: in.UID, Name: in.Name}, begin.FeedPosition, ipam.ID{}, 2*many)
			require.NoError(t, err)
		}
	}
	l.held = &amid.Now.FeedPosition
	l.shut.Unlock()
	require.Len(t, toldOf(told(b.ctx, t, first, 100), "IPClaim"), many)
	l.hold(nil)

	seen, cursor := map[string]bool{}, first.Cursor()
	for polls := 0; ; polls++ {
		f, err := b.Follow(b.ctx, project, cursor, feed.Filter{Kinds: []string{"IPClaim"}})
		require.NoError(t, err)
		changes, err := f.Next(b.ctx, 0, 5)
		require.NoError(t, err)
		for _, c := range changes {
			seen[c.Name] = true
		}
		cursor = f.Cursor()
		f.Close()
		if len(changes) == 0 {
			break
		}
		require.Less(t, polls, many, "it goes on")
	}
	require.GreaterOrEqual(t, len(seen), many-before, "what the cursor does not have")
}
