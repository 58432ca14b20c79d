package tenancy

import (
	"context"
	"sync"
	"time"
)

// uses is when things were last used, until it is written. Nothing is written when it happens.
type uses[K comparable] struct {
	mu sync.Mutex
	at map[K]time.Time
}

func (u *uses[K]) note(thing K, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.at == nil {
		u.at = map[K]time.Time{}
	}
	if at.After(u.at[thing]) {
		u.at[thing] = at
	}
}

// flush writes all of it in one call, and says how many it was. What cannot be written is kept for the next time.
func (u *uses[K]) flush(ctx context.Context, write func(context.Context, map[K]time.Time) error) (written int64, err error) {
	u.mu.Lock()
	at := u.at
	u.at = nil
	u.mu.Unlock()
	if len(at) == 0 {
		return 0, nil
	}
	if err := write(ctx, at); err != nil {
		for thing, when := range at {
			u.note(thing, when)
		}
		return 0, err
	}
	return int64(len(at)), nil
}
