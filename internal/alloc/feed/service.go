package feed

import (
	"context"
	"sync"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// These limits apply to the clients that follow changes at one server. The server's own followers, which serve the webhooks, do not count.
const (
	maxFollowers  = 10_000
	maxPerProject = maxFollowers / 4 // so that one project cannot take all
	maxPerCaller  = 1_024
)

// Feed streams the changes in projects.
type Feed struct {
	*usecase.Core

	mu        sync.Mutex
	hubs      map[ipam.ID]*hub
	followers int
	taken     map[string]int  // followers, by caller and by project
	life      context.Context //nolint:containedctx // for the hubs, which outlive the requests that create them
	stop      context.CancelFunc
	running   sync.WaitGroup
}

// New makes the feed.
func New(core *usecase.Core) *Feed {
	f := &Feed{Core: core, hubs: map[ipam.ID]*hub{}, taken: map[string]int{}}
	f.life, f.stop = context.WithCancel(context.Background())
	return f
}

// EndFeed ends all followers, and refuses new ones.
func (f *Feed) EndFeed() {
	f.stop()
	f.running.Wait()
}

// Followers returns how many followers exist, and how many projects they follow.
func (f *Feed) Followers() (followers, projects int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.followers, len(f.hubs)
}

// ChangesMark returns a mark, which is the current position in the audit trail. A caller takes the mark before it reads objects, and passes it to
// ChangesCursor. So a client that follows from this cursor misses no change after the read.
func (f *Feed) ChangesMark(ctx context.Context) (storage.FeedState, error) {
	return f.Store.RecentFeedState(ctx)
}

// ChangesCursor returns the cursor for a mark in a project. The same request has already read the project, so it is usually in the cache. If the
// cache no longer has the project, ChangesCursor returns "".
func (f *Feed) ChangesCursor(project string, m storage.FeedState) string {
	key, known := f.Projects.Get(project)
	if !known {
		return ""
	}
	return f.CursorOf(key, m)
}

// CursorOf returns the cursor for a mark in a project.
func (f *Feed) CursorOf(in storage.ProjectKey, m storage.FeedState) string {
	return newSealer(m.Secret, in.ID).seal(position{From: m.FeedPosition})
}

// Follow starts to follow a project from a cursor, or from now if the cursor is "".
func (f *Feed) Follow(ctx context.Context, project, cursor string, filter Filter) (*Follower, error) {
	who, in, err := f.Enter(ctx, tenancy.ChangesRead, project)
	if err != nil {
		return nil, err
	}
	leave, err := f.admit("caller "+who.Subject, "project "+in.ID.String())
	if err != nil {
		return nil, err
	}
	return f.follow(ctx, in, cursor, filter, leave)
}

// FollowSelf follows a project for the server itself. It needs no permission and does not count towards the limits.
func (f *Feed) FollowSelf(ctx context.Context, in storage.ProjectKey, cursor string, filter Filter) (*Follower, error) {
	return f.follow(ctx, in, cursor, filter, func() {})
}

func (f *Feed) follow(ctx context.Context, in storage.ProjectKey, cursor string, filter Filter, leave func()) (*Follower, error) {
	follower := &Follower{filter: filter, pass: -1, caught: -1, pending: -1, wake: make(chan struct{}, 1)}
	h, err := f.hubOf(ctx, in, follower)
	if err != nil {
		leave()
		return nil, err
	}
	follower.hub = h
	follower.leave = sync.OnceFunc(func() {
		h.mu.Lock()
		h.followers.remove(follower)
		h.left = f.Ticks()
		h.mu.Unlock()
		leave()
	})
	if cursor == "" {
		err = follower.await(ctx)
		h.mu.Lock()
		follower.position, follower.fresh = position{From: h.end}, true
		follower.part, follower.joined = h.afterEnd, true
		h.mu.Unlock()
	} else {
		follower.position, err = h.seal.open(cursor)
	}
	if err != nil {
		follower.Close()
		return nil, err
	}
	return follower, nil
}

// admit counts one more follower for the caller, the project and the server. It fails if any of the three has reached its limit.
func (f *Feed) admit(caller, project string) (leave func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.life.Err() != nil:
		return nil, errStopping
	case f.taken[caller] >= maxPerCaller:
		return nil, errCallerLimit
	case f.taken[project] >= maxPerProject:
		return nil, errProjectLimit
	case f.followers >= maxFollowers:
		return nil, errFull
	}
	f.followers++
	f.taken[caller]++
	f.taken[project]++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.followers--
		for _, of := range []string{caller, project} {
			if f.taken[of]--; f.taken[of] == 0 {
				delete(f.taken, of)
			}
		}
	}, nil
}

// hubOf adds a follower to the project's hub, and returns the hub. It makes the hub if the project has none.
func (f *Feed) hubOf(ctx context.Context, in storage.ProjectKey, one *Follower) (*hub, error) {
	if h := f.joinHub(in.ID, one, nil); h != nil {
		return h, nil
	}
	begin, err := f.Store.FeedRead(ctx, in, storage.FeedPosition{}, ipam.ID{}, 0)
	if err != nil {
		return nil, err
	}
	h := f.joinHub(in.ID, one, newHub(f, in, begin.Now))
	if h == nil {
		return nil, errStopping
	}
	return h, nil
}

// joinHub adds a follower to the project's hub. If the project has no hub, joinHub starts newHub and uses it. If newHub is nil, or if the server
// shuts down, joinHub returns nil.
func (f *Feed) joinHub(project ipam.ID, one *Follower, newHub *hub) *hub {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.hubs[project]
	if h == nil && newHub != nil && f.life.Err() == nil {
		h = newHub
		f.hubs[project] = h
		f.running.Go(func() { h.run(f.life) })
	}
	if h != nil {
		h.mu.Lock()
		h.followers.add(one)
		h.mu.Unlock()
	}
	return h
}

// retire removes a hub without followers, and reports whether it did.
func (f *Feed) retire(h *hub) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.followers.count > 0 {
		return false
	}
	delete(f.hubs, h.in.ID)
	return true
}

// drop removes a hub that has failed.
func (f *Feed) drop(h *hub) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hubs[h.in.ID] == h {
		delete(f.hubs, h.in.ID)
	}
}
