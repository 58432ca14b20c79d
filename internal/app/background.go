package app

import (
	"context"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/alloc"
)

// job is work that no request waits for. It is done again and again, on every server; each finds what others left to do.
type job struct {
	name  string // for the metrics
	what  string // for the log, when it fails
	every time.Duration
	run   func(ctx context.Context) error
}

// How many rows one step of a job works on.
const batch = 1000

func (a *App) jobs(c Config, service *alloc.Service) []job {
	jobs := []job{
		{"free_cooled", "blocks that have cooled down could not be freed", time.Second, func(ctx context.Context) error { return freeCooled(ctx, service) }},
		{"keep_stocks", "the stock of this region could not be looked after", time.Second, func(ctx context.Context) error { return a.keepStocks(ctx, service) }},
		{"sweep_scopes", "empty pools of scopes could not be removed", 10 * time.Second, func(ctx context.Context) error { return a.sweepScopes(ctx, service) }},
		{"expire_answers", "expired idempotency answers could not be deleted", time.Minute, a.expireAnswers},
	}
	if a.retention != nil {
		jobs = append(jobs, job{"purge_projects", "what is left of deleted projects could not be deleted", 10 * time.Second, a.purge})
	}
	if c.by(authKeys) {
		jobs = append(jobs, job{"flush_keys", "the last use of API keys could not be written", time.Minute, a.keyring.Flush})
	}
	if a.retention != nil && c.AuditRetention > 0 {
		jobs = append(jobs, job{"expire_events", "old audit events could not be deleted", 10 * time.Minute, func(ctx context.Context) error {
			return a.expireEvents(ctx, c.AuditRetention)
		}})
	}
	return jobs
}

// background starts the jobs. They end when stop is called, and idle is closed when they have.
func (a *App) background(jobs []job) {
	ctx, cancel := context.WithCancel(context.Background())
	a.stop = cancel
	var running sync.WaitGroup
	for _, j := range jobs {
		running.Go(func() { a.repeat(ctx, j) })
	}
	go func() {
		running.Wait()
		close(a.idle)
	}()
}

// repeat does a job until ctx ends. A failure is logged; the next time is another try.
func (a *App) repeat(ctx context.Context, j job) {
	tick := time.NewTicker(j.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		began := time.Now()
		err := j.run(ctx)
		if a.ran != nil && ctx.Err() == nil {
			a.ran.Ran(ctx, j.name, time.Now(), time.Since(began), err)
		}
		if err != nil && ctx.Err() == nil {
			a.Log.WarnContext(ctx, "a background job failed; trying again later", "job", j.what, "error", err)
		}
	}
}

// expireAnswers deletes idempotency answers that nobody can ask for again, in small transactions until none is left.
func (a *App) expireAnswers(ctx context.Context) error {
	for {
		n, err := a.store.ExpireAnswers(ctx, time.Now(), batch)
		if err != nil || n < batch {
			return err
		}
	}
}

// freeCooled frees the blocks that have cooled down, in small portions until none is left.
func freeCooled(ctx context.Context, service *alloc.Service) error {
	for {
		n, err := service.FreeCooled(ctx, batch)
		if err != nil || n < batch {
			return err
		}
	}
}

// keepStocks moves blocks of pools that serve several regions to and from this one, one each second and pool at most.
func (a *App) keepStocks(ctx context.Context, service *alloc.Service) error {
	moved, err := service.KeepStocks(ctx)
	if moved > 0 {
		a.Log.InfoContext(ctx, "blocks of pools were moved between regions", "blocks", moved)
	}
	return err
}

// sweepScopes removes the pools of scopes that have been empty for as long as their classes keep them.
func (a *App) sweepScopes(ctx context.Context, service *alloc.Service) error {
	_, removed, err := service.SweepScopes(ctx, batch, 1)
	if removed > 0 {
		a.Log.InfoContext(ctx, "empty pools of scopes were removed", "pools", removed)
	}
	return err
}

// purge deletes the trail and the history of projects that were deleted.
func (a *App) purge(ctx context.Context) error {
	_, err := a.retention.Purge(ctx, batch)
	return err
}

// expireEvents deletes the records of the audit trail that are older than they are to be kept.
func (a *App) expireEvents(ctx context.Context, keep time.Duration) error {
	n, err := a.retention.ExpireEvents(ctx, time.Now().Add(-keep), batch)
	if n > 0 {
		a.Log.InfoContext(ctx, "old audit events were deleted", "events", n, "olderThan", keep)
	}
	return err
}
