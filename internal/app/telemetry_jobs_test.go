package app

import (
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	tracespb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// await waits until the trace of a job has arrived whose root span has an attribute. It returns this span. It needs the attribute, because a slow run
// without work may also have a trace.
func (c *collector) await(t *testing.T, name, attribute string, value any) (begin *tracespb.Span) {
	t.Helper()
	require.Eventually(t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, s := range c.spans {
			if s.GetName() == name && len(s.GetParentSpanId()) == 0 && attributes(s)[attribute] == value {
				begin = s
				return true
			}
		}
		return false
	}, time.Minute, 10*time.Millisecond, name)
	return begin
}

func TestOnlyJobRunsWithWorkAreTraced(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "10") // ms
	f := follow(t)
	post(t, f.App, "/v1/projects/team-a/classes", `{"metadata": {"name": "rested"}, "spec": {"ipFamily": "IPv4", "defaultPrefixLength": 28, "reuseAfter": "1s"}}`, http.StatusCreated)
	post(t, f.App, "/v1/projects/team-a/pools", `{"metadata": {"name": "resting"}, "spec": {"cidr": "10.78.0.0/24", "classNames": ["rested"]}}`, http.StatusCreated)
	post(t, f.App, claimsOfA, `{"metadata": {"name": "short"}, "spec": {"className": "rested"}}`, http.StatusCreated)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, "http://"+f.Addr()+claimsOfA+"/short", http.NoBody)
	require.NoError(t, err)
	w, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, w.Body.Close())
	require.Less(t, w.StatusCode, http.StatusBadRequest)

	root := f.to.await(t, "job free_cooled", "carve.job.done", int64(1))
	require.Equal(t, map[string]any{
		"carve.job.task": "free_cooled", "carve.outcome": "ok", "carve.job.done": int64(1), "carve.tx.attempts": int64(1),
	}, attributes(root))
	for _, task := range []string{"free_cooled", "keep_stocks", "sample_pools"} { // these jobs run every second
		require.Eventually(t, func() bool {
			text := figures(t, f.App)
			return strings.Contains(text, `carve_job_runs_total{outcome="ok",task="`+task+`"}`) &&
				!strings.Contains(text, `carve_job_runs_total{outcome="ok",task="`+task+`"} 1`+"\n")
		}, time.Minute, 50*time.Millisecond, task)
	}
	exemplars := regexp.MustCompile(`(?m)^carve_job_.*trace_id="([0-9a-f]{32})"`).FindAllStringSubmatch(f.withExemplars(t), -1)
	f.stop()
	spans := f.to.trace(hex.EncodeToString(root.GetTraceId()))
	lines := tree(spans, nil, 0)
	require.Len(t, lines, len(spans), "all belong together")
	want := []string{
		"job free_cooled", "  attempt cooldown_over", "    cooldown_over", "  attempt cooldown_free", "    begin", "    hold_delete_one", "    commit",
	}
	if dbtest.Engine() == devdb.Postgres {
		want = append(want, "    lock_alone")
	}
	for _, line := range want {
		require.Contains(t, lines, line)
	}

	begun := map[string]bool{}
	for _, s := range f.to.spans {
		if len(s.GetParentSpanId()) == 0 {
			begun[string(s.GetTraceId())] = true
		}
		if strings.HasPrefix(s.GetName(), "job ") {
			took := time.Duration(s.GetEndTimeUnixNano() - s.GetStartTimeUnixNano())
			done, ok := attributes(s)["carve.job.done"].(int64)
			require.True(t, ok)
			require.True(t, done > 0 || took >= time.Second, "%s found nothing", s.GetName())
		}
	}
	for _, s := range f.to.spans {
		require.True(t, begun[string(s.GetTraceId())], "%s has lost what it was done for", s.GetName())
	}
	require.NotEmpty(t, exemplars)
	for _, e := range exemplars {
		require.NotEmpty(t, f.to.trace(e[1]), "what was measured points to a trace that nobody has")
	}
}

func TestFailedJobRunIsTracedAndLoggedWithItsTraceID(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "10") // ms
	f := follow(t)
	f.proxy.SetRules(pgfault.Once(pgfault.OnlySQL("cool_until <=", pgfault.SQLState("42501"))))
	root := f.to.await(t, "job free_cooled", "carve.outcome", "failed")
	f.stop()
	about := attributes(root)
	delete(about, "carve.tx.attempts")
	require.Equal(t, map[string]any{"carve.job.task": "free_cooled", "carve.outcome": "failed", "carve.job.done": int64(0), "carve.error.code": "internal"}, about)
	require.Equal(t, tracespb.Status_STATUS_CODE_ERROR, root.GetStatus().GetCode())
	id := hex.EncodeToString(root.GetTraceId())
	require.Equal(t, "42501", attributes(the(t, f.to.trace(id), "cooldown_over"))["error.type"])
	said := 0
	for _, line := range f.log.lines() {
		if strings.Contains(line, "a background job failed") && strings.Contains(line, `"trace_id":"`+id+`"`) {
			said++
		}
	}
	require.Equal(t, 1, said)
}
