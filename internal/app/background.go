package app

import (
	"context"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/webhooks"
	"github.com/carve-ipam/carve/internal/telemetry"
)

// job is work that no request waits for. It is done again and again, on every server; each finds what others left to do.
type job struct {
	name  string // for the metrics
	what  string // for the log, when it fails
	every time.Duration
	run   func(ctx context.Context) (done int64, err error) // done is how much there was to do, and was done
}

// How many rows one step of a job works on.
const batch = 1000

func (a *App) jobs(c Config, service *alloc.Service) []job {
	jobs := []job{
		{"free_cooled", "blocks that have cooled down could not be freed", time.Second, func(ctx context.Context) (int64, error) { return freeCooled(ctx, service) }},
		{"keep_stocks", "the stock of this region could not be looked after", time.Second, func(ctx context.Context) (int64, error) { return a.keepStocks(ctx, service) }},
		{"sweep_scopes", "empty pools of scopes could not be removed", 10 * time.Second, func(ctx context.Context) (int64, error) { return a.sweepScopes(ctx, service) }},
		{"delete_drained", "drained pools could not be deleted", 10 * time.Second, func(ctx context.Context) (int64, error) { return a.deleteDrained(ctx, service) }},
		{"keep_consumers", "consumers that have expired or ended could not be looked after", time.Second, func(ctx context.Context) (int64, error) { return a.keepConsumers(ctx, service) }},
		{"forget_consumers", "consumers that ended long ago could not be forgotten", 10 * time.Minute, func(ctx context.Context) (int64, error) {
			return a.forgetConsumers(ctx, c.ConsumerRetention)
		}},
		{"deliver_webhooks", "webhooks could not be looked after", time.Second, func(ctx context.Context) (int64, error) { return service.DeliverWebhooks(ctx) }},
		{"expire_deliveries", "deliveries that were given up long ago could not be deleted", 10 * time.Minute, func(ctx context.Context) (int64, error) {
			return a.store.ExpireDeliveries(ctx, a.store.Now().Add(-webhooks.DeadLettersKept))
		}},
		{"look_after_alerts", "alerts could not be looked after", time.Second, func(ctx context.Context) (int64, error) { return service.LookAfterAlerts(ctx) }},
		{"record_utilization", "it could not be recorded how much of pools is used", min(time.Minute, c.UtilizationEvery), a.recorder.Record},
		{"thin_utilization", "what was recorded of pools long ago could not be thinned out", 10 * time.Minute, a.recorder.Thin},
		{"expire_answers", "expired idempotency answers could not be deleted", time.Minute, a.expireAnswers},
	}
	if a.retention != nil {
		jobs = append(jobs, job{"purge_projects", "what is left of deleted projects could not be deleted", 10 * time.Second, a.purge})
	}
	if c.by(authKeys) {
		jobs = append(jobs, job{"flush_keys", "the last use of API keys could not be written", time.Minute, a.keyring.Flush})
	}
	if c.by(authKeys) || c.by(authOIDC) {
		jobs = append(jobs,
			job{"flush_sessions", "the last use of sessions could not be written", time.Minute, a.sessions.Flush},
			job{"expire_sessions", "expired sessions could not be deleted", 10 * time.Minute, a.expireSessions})
	}
	if a.retention != nil && c.AuditRetention > 0 {
		jobs = append(jobs, job{"expire_events", "old audit events could not be deleted", 10 * time.Minute, func(ctx context.Context) (int64, error) {
			return a.expireEvents(ctx, c.AuditRetention)
		}})
	}
	if a.retention != nil && c.HistoryRetention > 0 {
		jobs = append(jobs, job{"expire_history", "old holds could not be deleted", 10 * time.Minute, func(ctx context.Context) (int64, error) {
			return a.expireHistory(ctx, c.HistoryRetention)
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
		a.once(ctx, j)
	}
}

// once does a job once, in a trace of its own. That it was cut short because ctx has ended is no failure.
func (a *App) once(ctx context.Context, j job) {
	within, traced := ctx, false
	if a.traces != nil {
		within = a.traces.JobBegan(ctx, j.name)
	}
	began := time.Now()
	done, err := j.run(within)
	took, stopped := time.Since(began), ctx.Err() != nil
	if a.traces != nil {
		traced = a.traces.JobEnded(within, telemetry.Run{Done: done, Took: took, Err: err, Stopped: stopped})
	}
	if stopped {
		return
	}
	if err != nil {
		a.Log.WarnContext(within, "a background job failed; trying again later", "job", j.what, "error", err)
	}
	if a.ran == nil {
		return
	}
	if !traced {
		within = ctx // what was measured points to no trace that nobody has
	}
	a.ran.Ran(within, j.name, time.Now(), took, err)
}

// expireAnswers deletes idempotency answers that nobody can ask for again, in small transactions until none is left.
func (a *App) expireAnswers(ctx context.Context) (done int64, err error) {
	for {
		n, err := a.store.ExpireAnswers(ctx, a.store.Now(), batch)
		if done += n; err != nil || n < batch {
			return done, err
		}
	}
}

// expireSessions deletes sessions that have ended by themselves, likewise.
func (a *App) expireSessions(ctx context.Context) (done int64, err error) {
	for {
		n, err := a.store.ExpireSessions(ctx, a.store.Now(), batch)
		if done += n; err != nil || n < batch {
			return done, err
		}
	}
}

// freeCooled frees the blocks that have cooled down, in small portions until none is left.
func freeCooled(ctx context.Context, service *alloc.Service) (done int64, err error) {
	for {
		n, err := service.FreeCooled(ctx, batch)
		if done += int64(n); err != nil || n < batch {
			return done, err
		}
	}
}

// keepStocks moves blocks of pools that serve several regions to and from this one, one each second and pool at most.
func (a *App) keepStocks(ctx context.Context, service *alloc.Service) (int64, error) {
	moved, err := service.KeepStocks(ctx)
	if moved > 0 {
		a.Log.InfoContext(ctx, "blocks of pools were moved between regions", "blocks", moved)
	}
	return int64(moved), err
}

// keepConsumers ends the consumers that have expired, and detaches those that have ended.
func (a *App) keepConsumers(ctx context.Context, service *alloc.Service) (int64, error) {
	done, err := service.KeepConsumers(ctx)
	for _, realm := range done.Opened {
		a.Log.WarnContext(ctx, "many consumers of a realm have expired at once: none is ended until that is confirmed, or they are renewed",
			"projectId", realm.ProjectID, "realm", realm.Name)
	}
	if done.Expired > 0 {
		a.Log.InfoContext(ctx, "consumers were ended that had expired", "consumers", done.Expired)
	}
	return int64(done.Expired + done.Drained), err
}

// forgetConsumers deletes the tombstones of consumers that ended longer ago than those are to be kept.
func (a *App) forgetConsumers(ctx context.Context, keep time.Duration) (done int64, err error) {
	for {
		n, err := a.store.ForgetConsumers(ctx, a.store.Now().Add(-keep), batch)
		if done += n; err != nil || n < batch {
			return done, err
		}
	}
}

// sweepScopes removes the pools of scopes that have been empty for as long as their classes keep them.
func (a *App) sweepScopes(ctx context.Context, service *alloc.Service) (int64, error) {
	marked, removed, err := service.SweepScopes(ctx, batch, 1)
	if removed > 0 {
		a.Log.InfoContext(ctx, "empty pools of scopes were removed", "pools", removed)
	}
	return int64(marked + removed), err
}

// deleteDrained deletes pools that were drained to be deleted and have become empty.
func (a *App) deleteDrained(ctx context.Context, service *alloc.Service) (int64, error) {
	n, err := service.DeleteDrained(ctx, batch)
	if n > 0 {
		a.Log.InfoContext(ctx, "drained pools were deleted", "pools", n)
	}
	return int64(n), err
}

// purge deletes the trail and the history of projects that were deleted.
func (a *App) purge(ctx context.Context) (int64, error) { return a.retention.Purge(ctx, batch) }

// expireEvents deletes the records of the audit trail that are older than they are to be kept.
func (a *App) expireEvents(ctx context.Context, keep time.Duration) (int64, error) {
	n, err := a.retention.ExpireEvents(ctx, a.retention.Now().Add(-keep), batch)
	if n > 0 {
		a.Log.InfoContext(ctx, "old audit events were deleted", "events", n, "olderThan", keep)
	}
	return n, err
}

// expireHistory deletes the holds that ended longer ago than they are to be kept.
func (a *App) expireHistory(ctx context.Context, keep time.Duration) (int64, error) {
	n, err := a.retention.ExpireHistory(ctx, a.retention.Now().Add(-keep), batch)
	if n > 0 {
		a.Log.InfoContext(ctx, "old holds were deleted", "holds", n, "olderThan", keep)
	}
	return n, err
}
