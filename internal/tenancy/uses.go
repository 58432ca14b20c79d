package tenancy

import (
	"context"
	"sync"
	"time"
)

// lastUses collects the times at which keys or sessions were last used. It keeps the times in memory until the next flush, so that a use causes no
// database write.
type lastUses[K comparable] struct {
	mu sync.Mutex
	at map[K]time.Time
}

func (u *lastUses[K]) note(key K, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.at == nil {
		u.at = map[K]time.Time{}
	}
	if at.After(u.at[key]) {
		u.at[key] = at
	}
}

// flush writes all times in one call and returns their number. If the write fails, the times stay for the next call.
func (u *lastUses[K]) flush(ctx context.Context, write func(context.Context, map[K]time.Time) error) (written int64, err error) {
	u.mu.Lock()
	at := u.at
	u.at = nil
	u.mu.Unlock()
	if len(at) == 0 {
		return 0, nil
	}
	if err := write(ctx, at); err != nil {
		for key, when := range at {
			u.note(key, when)
		}
		return 0, err
	}
	return int64(len(at)), nil
}
