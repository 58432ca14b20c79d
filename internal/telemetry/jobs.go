package telemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Outcomes of events other than claims.
const (
	wentWell = "ok"
	failed   = "failed"
)

// Jobs records the runs of a server's background jobs. WatchJobs makes one. It is safe for concurrent use.
type Jobs struct {
	metrics *Metrics
	mu      sync.Mutex
	last    map[string]time.Time
}

// Job is the name and interval of one background job.
type Job struct {
	Name  string
	Every time.Duration
}

// WatchJobs registers two metrics of each job: its interval and the time of its last success. Before the first success, the latter is now. Call
// WatchJobs once.
func (m *Metrics) WatchJobs(all []Job, now time.Time) (*Jobs, error) {
	j := &Jobs{metrics: m, last: make(map[string]time.Time, len(all))}
	for _, each := range all {
		j.last[each.Name] = now
	}
	k := maker{meter: m.meter}
	last, interval := k.figure(ofLastSuccess), k.figure(ofInterval)
	return j, k.watch("the background jobs", func(o metric.Observer) {
		j.mu.Lock()
		defer j.mu.Unlock()
		for _, each := range all {
			name := metric.WithAttributes(labelTask.String(each.Name))
			o.ObserveFloat64(last, unix(j.last[each.Name]), name)
			o.ObserveFloat64(interval, each.Every.Seconds(), name)
		}
	})
}

// Ran records a finished run of a job.
func (j *Jobs) Ran(ctx context.Context, job string, now time.Time, took time.Duration, err error) {
	outcome := wentWell
	if err != nil {
		outcome = failed
	} else {
		j.mu.Lock()
		j.last[job] = now
		j.mu.Unlock()
	}
	j.metrics.runs.Add(ctx, 1, metric.WithAttributeSet(attribute.NewSet(labelTask.String(job), labelOutcome.String(outcome))))
	j.metrics.jobTimes.Record(ctx, took.Seconds(), metric.WithAttributeSet(attribute.NewSet(labelTask.String(job))))
}
