package telemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Outcomes for other events than claims.
const (
	wentWell = "ok"
	failed   = "failed"
)

// Jobs records runs of background jobs. WatchJobs makes one. It is safe for concurrent use.
type Jobs struct {
	metrics *Metrics
	mu      sync.Mutex
	last    map[string]time.Time
}

// WatchJobs registers two metrics for each job: its interval and the time of its last success. Until the first success, the second metric has the
// time start. intervals has the interval of each job by its name. Call WatchJobs once.
func (m *Metrics) WatchJobs(intervals map[string]time.Duration, start time.Time) (*Jobs, error) {
	j := &Jobs{metrics: m, last: map[string]time.Time{}}
	for job := range intervals {
		j.last[job] = start
	}
	return j, m.watch("the background jobs", func(s collection) {
		j.mu.Lock()
		defer j.mu.Unlock()
		for job, every := range intervals {
			task := labelTask.String(job)
			put(s, ofLastSuccess, unix(j.last[job]), task)
			put(s, ofInterval, every.Seconds(), task)
		}
	}, ofLastSuccess, ofInterval)
}

// Ran records a finished run.
func (j *Jobs) Ran(ctx context.Context, job string, now time.Time, took time.Duration, err error) {
	outcome := wentWell
	if err != nil {
		outcome = failed
	} else {
		j.mu.Lock()
		j.last[job] = now
		j.mu.Unlock()
	}
	add(ctx, j.metrics.runs, 1, labelTask.String(job), labelOutcome.String(outcome))
	j.metrics.jobTimes.Record(ctx, took.Seconds(), metric.WithAttributeSet(attribute.NewSet(labelTask.String(job))))
}
