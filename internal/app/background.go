package app

import (
	"context"
	"time"
)

// How often expired idempotency answers are deleted, and how many rows one transaction deletes.
const (
	expireEvery = time.Minute
	expireBatch = 1000
)

// background starts the work that no request waits for.
func (a *App) background() {
	ctx, cancel := context.WithCancel(context.Background())
	a.stop = cancel
	go func() {
		defer close(a.idle)
		tick := time.NewTicker(expireEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				a.expireAnswers(ctx)
			}
		}
	}()
}

// expireAnswers deletes in small transactions until none is left.
func (a *App) expireAnswers(ctx context.Context) {
	for {
		n, err := a.store.ExpireAnswers(ctx, time.Now(), expireBatch)
		if err != nil {
			a.Log.WarnContext(ctx, "expired idempotency answers could not be deleted; trying again later", "error", err)
			return
		}
		if n < expireBatch {
			return
		}
	}
}
