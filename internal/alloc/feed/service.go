package feed

import (
	"context"
	"sync"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// A server admits so many callers that follow changes. Its own followers, the webhooks, take none of these places.
const (
	maxFollowers = 10_000
	maxOfProject = maxFollowers / 4 // that follow one project
	maxOfCaller  = 1_024
)

// Feed is what changes in projects.
type Feed struct {
	*usecase.Core

	mu        sync.Mutex
	hubs      map[ipam.ID]*hub
	followers int
	taken     map[string]int  // places, by caller and by project
	life      context.Context //nolint:containedctx // that of the hubs, which outlive the requests that make them
	stop      context.CancelFunc
	running   sync.WaitGroup
}

// New makes the room.
func New(core *usecase.Core) *Feed {
	f := &Feed{Core: core, hubs: map[ipam.ID]*hub{}, taken: map[string]int{}}
	f.life, f.stop = context.WithCancel(context.Background())
	return f
}

// EndFeed ends all that follow, and lets nobody follow any more.
func (f *Feed) EndFeed() {
	f.stop()
	f.running.Wait()
}

// Followers answers how many follow at the moment, and how many projects they follow.
func (f *Feed) Followers() (followers, projects int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.followers, len(f.hubs)
}

// ChangesMark answers a mark of before what is read from now on, for ChangesCursor.
func (f *Feed) ChangesMark(ctx context.Context) (storage.Mark, error) { return f.Store.FeedMark(ctx) }

// ChangesCursor is the cursor of a mark, for a project that the same request has found; "" when it is not remembered any more.
func (f *Feed) ChangesCursor(project string, m storage.Mark) string {
	key, known := f.Projects.Get(project)
	if !known {
		return ""
	}
	return f.CursorOf(key, m)
}

// CursorOf is the cursor of a mark, for a project.
func (f *Feed) CursorOf(in storage.ProjectKey, m storage.Mark) string {
	return newSealer(m.Secret, in.ID).seal(position{From: m.Place})
}

// Follow begins to follow a project, from a cursor or, without one, from now.
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

// FollowSelf follows a project for the server itself, which needs no rights and takes no place from callers.
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
		follower.at, follower.fresh = position{From: h.end}, true
		follower.part, follower.joined = h.afterEnd, true
		h.mu.Unlock()
	} else {
		follower.at, err = h.seal.open(cursor)
	}
	if err != nil {
		follower.Close()
		return nil, err
	}
	return follower, nil
}

// admit takes a place for a follower of a caller, unless the caller, the project or the server has as many as it may.
func (f *Feed) admit(caller, project string) (leave func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.life.Err() != nil:
		return nil, errStopping
	case f.taken[caller] >= maxOfCaller:
		return nil, errGreedy
	case f.taken[project] >= maxOfProject:
		return nil, errCrowded
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

// hubOf answers the hub of a project with one follower more, and makes it for the first one.
func (f *Feed) hubOf(ctx context.Context, in storage.ProjectKey, one *Follower) (*hub, error) {
	if h := f.joined(in.ID, one, nil); h != nil {
		return h, nil
	}
	begin, err := f.Store.FeedRead(ctx, in, storage.Place{}, ipam.ID{}, 0)
	if err != nil {
		return nil, err
	}
	h := f.joined(in.ID, one, newHub(f, in, begin.Now))
	if h == nil {
		return nil, errStopping
	}
	return h, nil
}

// joined adds a follower to the hub of a project: the one that there is, or else a new one, which begins to run. nil: there is none.
func (f *Feed) joined(project ipam.ID, one *Follower, made *hub) *hub {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.hubs[project]
	if h == nil && made != nil && f.life.Err() == nil {
		h = made
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

// retire takes a hub away that nobody follows.
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

// drop takes a hub away that cannot go on.
func (f *Feed) drop(h *hub) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hubs[h.in.ID] == h {
		delete(f.hubs, h.in.ID)
	}
}
