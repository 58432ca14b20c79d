package app

import (
	"context"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/webhooks"
	"github.com/carve-ipam/carve/internal/telemetry"
)

// job is work that every server repeats in the background. Each run does the work that is due.
type job struct {
	name  string // for the metrics
	what  string // error text for the log
	every time.Duration
	run   func(ctx context.Context) (done int64, err error) // done is the number of processed items
}

// batch is the largest number of rows that a job processes in one step.
const batch = 1000

func (a *App) jobs(c Config, service *alloc.Service) []job {
	jobs := []job{
		{"free_cooled", "cannot free blocks after their cool-down", time.Second, func(ctx context.Context) (int64, error) { return freeCooled(ctx, service) }},
		{"keep_stocks", "cannot adjust the stock of this region", time.Second, func(ctx context.Context) (int64, error) { return a.rebalanceStocks(ctx, service) }},
		{"sweep_scopes", "cannot delete empty pools of scopes", 10 * time.Second, func(ctx context.Context) (int64, error) { return a.sweepScopes(ctx, service) }},
		{"delete_drained", "cannot delete drained pools", 10 * time.Second, func(ctx context.Context) (int64, error) { return a.deleteDrained(ctx, service) }},
		{"keep_consumers", "cannot process expired or ended consumers", time.Second, func(ctx context.Context) (int64, error) { return a.expireConsumers(ctx, service) }},
		{"forget_consumers", "cannot delete old tombstones of consumers", 10 * time.Minute, func(ctx context.Context) (int64, error) {
			return a.forgetConsumers(ctx, c.ConsumerRetention)
		}},
		{"deliver_webhooks", "cannot take over webhooks or renew leases on them", time.Second, func(ctx context.Context) (int64, error) { return service.DeliverWebhooks(ctx) }},
		{"expire_deliveries", "cannot delete old dead letters", 10 * time.Minute, func(ctx context.Context) (int64, error) {
			return a.store.ExpireDeliveries(ctx, a.store.Now().Add(-webhooks.DeadLettersKept))
		}},
		{"look_after_alerts", "cannot check alert rules", time.Second, func(ctx context.Context) (int64, error) { return service.EvaluateAlerts(ctx) }},
		{"record_utilization", "cannot record the usage of pools", min(time.Minute, c.UtilizationEvery), a.recorder.Record},
		{"thin_utilization", "cannot thin out old usage records of pools", 10 * time.Minute, a.recorder.Thin},
		{"expire_answers", "cannot delete expired idempotency responses", time.Minute, a.expireAnswers},
	}
	if a.retention != nil {
		jobs = append(jobs, job{"purge_projects", "cannot delete records of deleted projects", 10 * time.Second, a.purge})
	}
	if c.by(authKeys) {
		jobs = append(jobs, job{"flush_keys", "cannot write the last use of API keys", time.Minute, a.keyring.Flush})
	}
	if c.by(authKeys) || c.by(authOIDC) {
		jobs = append(jobs,
			job{"flush_sessions", "cannot write the last use of sessions", time.Minute, a.sessions.Flush},
			job{"expire_sessions", "cannot delete expired sessions", 10 * time.Minute, a.expireSessions})
	}
	if a.retention != nil && c.AuditRetention > 0 {
		jobs = append(jobs, job{"expire_events", "cannot delete old audit events", 10 * time.Minute, func(ctx context.Context) (int64, error) {
			return a.expireEvents(ctx, c.AuditRetention)
		}})
	}
	if a.retention != nil && c.HistoryRetention > 0 {
		jobs = append(jobs, job{"expire_history", "cannot delete old holds", 10 * time.Minute, func(ctx context.Context) (int64, error) {
			return a.expireHistory(ctx, c.HistoryRetention)
		}})
	}
	return jobs
}

// background starts the jobs. a.stop stops them, and a.idle is closed when all have stopped.
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

// repeat runs a job until ctx ends. If a run fails, repeat logs the error, and the next run tries again.
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

// once runs a job once, in a trace of its own. If ctx ends during a run, the run does not count as failed.
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
		within = ctx // the metric must not link to a trace that was dropped
	}
	a.ran.Ran(within, j.name, time.Now(), took, err)
}

// expireAnswers deletes stored responses of idempotent requests that have expired.
func (a *App) expireAnswers(ctx context.Context) (done int64, err error) {
	for {
		n, err := a.store.ExpireAnswers(ctx, a.store.Now(), batch)
		if done += n; err != nil || n < batch {
			return done, err
		}
	}
}

// expireSessions deletes sessions that have expired.
func (a *App) expireSessions(ctx context.Context) (done int64, err error) {
	for {
		n, err := a.store.ExpireSessions(ctx, a.store.Now(), batch)
		if done += n; err != nil || n < batch {
			return done, err
		}
	}
}

// freeCooled frees the blocks whose cool-down has ended.
func freeCooled(ctx context.Context, service *alloc.Service) (done int64, err error) {
	for {
		n, err := service.FreeCooled(ctx, batch)
		if done += int64(n); err != nil || n < batch {
			return done, err
		}
	}
}

// rebalanceStocks moves blocks of multi-region pools to or from this region. It moves at most one block of each pool in a run.
func (a *App) rebalanceStocks(ctx context.Context, service *alloc.Service) (int64, error) {
	moved, err := service.RebalanceStocks(ctx)
	if moved > 0 {
		a.Log.InfoContext(ctx, "moved blocks of pools between regions", "blocks", moved)
	}
	return int64(moved), err
}

// expireConsumers ends consumers whose TTL has passed, and detaches ended consumers from their claims.
func (a *App) expireConsumers(ctx context.Context, service *alloc.Service) (int64, error) {
	done, err := service.ExpireConsumers(ctx)
	for _, realm := range done.Opened {
		a.Log.WarnContext(ctx, "many consumers in a realm expired at once: none ends before a confirmation or a renewal",
			"projectId", realm.ProjectID, "realm", realm.Name)
	}
	if done.Expired > 0 {
		a.Log.InfoContext(ctx, "ended expired consumers", "consumers", done.Expired)
	}
	return int64(done.Expired + done.Drained), err
}

// forgetConsumers deletes the records of consumers that ended longer ago than keep.
func (a *App) forgetConsumers(ctx context.Context, keep time.Duration) (done int64, err error) {
	for {
		n, err := a.store.ForgetConsumers(ctx, a.store.Now().Add(-keep), batch)
		if done += n; err != nil || n < batch {
			return done, err
		}
	}
}

// sweepScopes deletes the pools of scopes that have been empty for longer than their class allows.
func (a *App) sweepScopes(ctx context.Context, service *alloc.Service) (int64, error) {
	marked, removed, err := service.SweepScopes(ctx, batch, 1)
	if removed > 0 {
		a.Log.InfoContext(ctx, "deleted empty pools of scopes", "pools", removed)
	}
	return int64(marked + removed), err
}

// deleteDrained deletes empty pools whose drain mode asks for their deletion.
func (a *App) deleteDrained(ctx context.Context, service *alloc.Service) (int64, error) {
	n, err := service.DeleteDrained(ctx, batch)
	if n > 0 {
		a.Log.InfoContext(ctx, "deleted drained pools", "pools", n)
	}
	return int64(n), err
}

// purge deletes the audit trail and the history of deleted projects.
func (a *App) purge(ctx context.Context) (int64, error) { return a.retention.Purge(ctx, batch) }

// expireEvents deletes audit trail records that are older than keep.
func (a *App) expireEvents(ctx context.Context, keep time.Duration) (int64, error) {
	n, err := a.retention.ExpireEvents(ctx, a.retention.Now().Add(-keep), batch)
	if n > 0 {
		a.Log.InfoContext(ctx, "deleted old audit events", "events", n, "olderThan", keep)
	}
	return n, err
}

// expireHistory deletes records of holders that ended longer ago than keep.
func (a *App) expireHistory(ctx context.Context, keep time.Duration) (int64, error) {
	n, err := a.retention.ExpireHistory(ctx, a.retention.Now().Add(-keep), batch)
	if n > 0 {
		a.Log.InfoContext(ctx, "deleted old holds", "holds", n, "olderThan", keep)
	}
	return n, err
}
