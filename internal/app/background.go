package app

import (
	"context"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/webhooks"
	"github.com/carve-ipam/carve/internal/telemetry"
)

// job is work that every server repeats in the background. Each run does the work that is due.
type job struct {
	name  string // for the metrics
	what  string // error text for the log
	every time.Duration
	run   func(ctx context.Context) (done int64, err error) // done counts the processed items
}

// batch limits the rows that a job processes in one step.
const batch = 1000

func (a *App) jobs(c Config) []job {
	jobs := []job{
		{"free_cooled", "cannot free blocks after their cool-down", time.Second, batches(func(ctx context.Context) (int64, error) {
			n, err := a.service.FreeCooled(ctx, batch)
			return int64(n), err
		})},
		{"keep_stocks", "cannot adjust the stock of this region", time.Second, a.rebalanceStocks},
		{"sweep_scopes", "cannot delete empty pools of scopes", 10 * time.Second, a.sweepScopes},
		{"delete_drained", "cannot delete drained pools", 10 * time.Second, a.deleteDrained},
		{"keep_consumers", "cannot process expired or ended consumers", time.Second, a.expireConsumers},
		{"forget_consumers", "cannot delete old tombstones of consumers", 10 * time.Minute, batches(func(ctx context.Context) (int64, error) {
			return a.store.ForgetConsumers(ctx, a.store.Now().Add(-c.ConsumerRetention), batch)
		})},
		{"deliver_webhooks", "cannot take over webhooks or renew leases on them", time.Second, func(ctx context.Context) (int64, error) {
			return a.service.DeliverWebhooks(ctx)
		}},
		{"expire_deliveries", "cannot delete old dead letters", 10 * time.Minute, func(ctx context.Context) (int64, error) {
			return a.store.ExpireDeliveries(ctx, a.store.Now().Add(-webhooks.DeadLettersKept))
		}},
		{"look_after_alerts", "cannot check alert rules", time.Second, func(ctx context.Context) (int64, error) { return a.service.EvaluateAlerts(ctx) }},
		{"record_utilization", "cannot record the usage of pools", min(time.Minute, c.UtilizationEvery), a.recorder.Record},
		{"thin_utilization", "cannot thin out old usage records of pools", 10 * time.Minute, a.recorder.Thin},
		{"expire_answers", "cannot delete expired idempotency responses", time.Minute, batches(func(ctx context.Context) (int64, error) {
			return a.store.ExpireStoredResponses(ctx, a.store.Now(), batch)
		})},
	}
	if c.hasAuth(authKeys) {
		jobs = append(jobs, job{"flush_keys", "cannot write the last use of API keys", time.Minute, a.keyring.Flush})
	}
	if c.hasAuth(authKeys) || c.hasAuth(authOIDC) {
		jobs = append(jobs,
			job{"flush_sessions", "cannot write the last use of sessions", time.Minute, a.sessions.Flush},
			job{"expire_sessions", "cannot delete expired sessions", 10 * time.Minute, batches(func(ctx context.Context) (int64, error) {
				return a.store.ExpireSessions(ctx, a.store.Now(), batch)
			})})
	}
	if a.retention == nil {
		return jobs
	}
	jobs = append(jobs, job{"purge_projects", "cannot delete records of deleted projects", 10 * time.Second, func(ctx context.Context) (int64, error) {
		return a.retention.Purge(ctx, batch)
	}})
	for _, one := range []struct {
		keep       time.Duration
		expire     func(context.Context, time.Time, int) (int64, error)
		name, what string
		message    string
		count      string // log attribute
	}{
		{c.AuditRetention, a.retention.ExpireEvents, "expire_events", "cannot delete old audit events", "deleted old audit events", "events"},
		{c.HistoryRetention, a.retention.ExpireHistory, "expire_history", "cannot delete old holds", "deleted old holds", "holds"},
	} {
		if one.keep > 0 {
			jobs = append(jobs, job{one.name, one.what, 10 * time.Minute, func(ctx context.Context) (int64, error) {
				n, err := one.expire(ctx, a.retention.Now().Add(-one.keep), batch)
				a.logDone(ctx, n, one.message, one.count, "olderThan", one.keep)
				return n, err
			}})
		}
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
		a.runOnce(ctx, j)
	}
}

// runOnce makes one run of a job, in a separate trace. If ctx ends during a run, the run does not count as failed.
func (a *App) runOnce(ctx context.Context, j job) {
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

// batches returns a run that repeats step until step processes less than a full batch.
func batches(step func(ctx context.Context) (int64, error)) func(ctx context.Context) (done int64, err error) {
	return func(ctx context.Context) (done int64, err error) {
		for {
			n, err := step(ctx)
			if done += n; err != nil || n < batch {
				return done, err
			}
		}
	}
}

// logDone logs the number of items that a run has processed, unless it is 0. count is the name of the log attribute.
func (a *App) logDone(ctx context.Context, n int64, message, count string, more ...any) {
	if n > 0 {
		a.Log.InfoContext(ctx, message, append([]any{count, n}, more...)...) //nolint:sloglint // the callers pass constants
	}
}

// rebalanceStocks moves blocks in multi-region pools to or from this region, at most one block for each pool in a run.
func (a *App) rebalanceStocks(ctx context.Context) (int64, error) {
	moved, err := a.service.RebalanceStocks(ctx)
	a.logDone(ctx, int64(moved), "moved blocks of pools between regions", "blocks")
	return int64(moved), err
}

// expireConsumers ends consumers whose TTL has passed, and detaches ended consumers from their claims.
func (a *App) expireConsumers(ctx context.Context) (int64, error) {
	done, err := a.service.ExpireConsumers(ctx)
	for _, realm := range done.Opened {
		a.Log.WarnContext(ctx, "many consumers in a realm expired at once: none ends before a confirmation or a renewal",
			"projectId", realm.ProjectID, "realm", realm.Name)
	}
	a.logDone(ctx, int64(done.Expired), "ended expired consumers", "consumers")
	return int64(done.Expired + done.Drained), err
}

// sweepScopes deletes scoped pools that have been empty for longer than their class allows.
func (a *App) sweepScopes(ctx context.Context) (int64, error) {
	marked, removed, err := a.service.SweepScopes(ctx, batch, 1)
	a.logDone(ctx, int64(removed), "deleted empty pools of scopes", "pools")
	return int64(marked + removed), err
}

// deleteDrained deletes empty pools whose drain mode asks for their deletion.
func (a *App) deleteDrained(ctx context.Context) (int64, error) {
	n, err := a.service.DeleteDrained(ctx, batch)
	a.logDone(ctx, int64(n), "deleted drained pools", "pools")
	return int64(n), err
}
