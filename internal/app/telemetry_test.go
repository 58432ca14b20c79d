package app

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	tracespb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// These tests set environment variables of the process, so they cannot run in parallel.

// journal is a log that a test may read while the server writes it.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) lines() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Split(j.text.String(), "\n")
}

// followed is a server that exports to a collector and reaches its database through a proxy.
type followed struct {
	*App
	to    *collector
	proxy *pgfault.Proxy
	log   *journal
	stop  func()
}

func follow(t *testing.T) followed {
	t.Helper()
	f := followed{to: collect(t), log: &journal{}}
	var err error
	f.proxy, err = pgfault.Start(t.Context(), dbtest.New(t))
	require.NoError(t, err)
	t.Cleanup(f.proxy.Close)
	config, _, err := ParseConfig([]string{
		"--listen=127.0.0.1:0", "--auth=dev", "--max-connections=4", "--log-format=json", "--log-level=debug", "--metrics-pools=3", "--database-url=" + f.proxy.DSN(),
		"--request-timeout=60s",
	}, nil)
	require.NoError(t, err)
	f.App, err = Start(t.Context(), config, f.log)
	require.NoError(t, err)
	f.stop = sync.OnceFunc(func() { require.NoError(t, f.Close(context.Background())) })
	t.Cleanup(f.stop)
	post(t, f.App, "/v1/projects", `{"metadata": {"name": "team-a"}}`, http.StatusCreated)
	post(t, f.App, "/v1/projects/team-a/classes", `{"metadata": {"name": "small"}, "spec": {"ipFamily": "IPv4", "defaultPrefixLength": 28}}`, http.StatusCreated)
	post(t, f.App, "/v1/projects/team-a/pools", `{"metadata": {"name": "net"}, "spec": {"cidr": "10.77.0.0/16", "classNames": ["small"]}}`, http.StatusCreated)
	post(t, f.App, claimsOfA, `{"metadata": {"name": "warm"}, "spec": {"className": "small"}}`, http.StatusCreated)
	return f
}

const (
	claimsOfA = "/v1/projects/team-a/claims"
	caller    = "00f067aa0ba902b7"
)

// ask sends a request with a caller's trace header, and returns the status and the body.
func (f followed) ask(t *testing.T, trace, method, path, body string) (int, map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+f.Addr()+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", "hush-key-"+trace)
	r.Header.Set("Authorization", "Bearer hush-token")
	r.Header.Set("Traceparent", "00-"+trace+"-"+caller+"-01")
	w, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer w.Body.Close()
	var answer map[string]any
	require.NoError(t, json.NewDecoder(w.Body).Decode(&answer))
	return w.StatusCode, answer
}

func (f followed) claim(t *testing.T, trace, name string) {
	t.Helper()
	status, answer := f.ask(t, trace, http.MethodPost, claimsOfA+"?dryRun=false", `{"metadata": {"name": "`+name+`"}, "spec": {"className": "small"}}`)
	require.Equal(t, http.StatusCreated, status, answer)
}

// withExemplars returns the server's metrics with exemplars.
func (f followed) withExemplars(t *testing.T) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+f.Addr()+"/metrics", http.NoBody)
	require.NoError(t, err)
	r.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	w, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	require.NoError(t, err)
	require.Contains(t, w.Header.Get("Content-Type"), "openmetrics")
	return string(text)
}

func traceNumber(n string) string { return strings.Repeat("0", 32-len(n)) + n }

func TestClaimTraceIsComplete(t *testing.T) {
	f := follow(t)
	id := traceNumber("a1")
	f.claim(t, id, "hush-claim")
	f.stop()
	spans := f.to.trace(id)
	parent, err := hex.DecodeString(caller)
	require.NoError(t, err)
	lines := tree(spans, parent, 0)
	require.Len(t, lines, len(spans), "all belong together")
	for i := range lines { // a transaction takes its locks in the order of their numbers, so the order of their names varies
		lines[i] = regexp.MustCompile("lock_(alone|shared|idle)").ReplaceAllString(lines[i], "lock")
	}
	begin, end, system := []string{"begin", "lock", "lock"}, []string{"commit"}, "postgresql"
	// CockroachDB does not have these locks. The transaction locks the version row instead (fence_list), and cockroach-go sets a savepoint.
	if dbtest.Engine() == devdb.Cockroach {
		begin, end, system = []string{"begin", "savepoint", "fence_list"}, []string{"release", "commit"}, "cockroachdb"
	}
	want := []string{"createClaim", "  use_case createClaim", "    claim_group", "      attempt claim_group"}
	for _, statement := range slices.Concat(begin, []string{
		"fence_list_here", "pool_state", "free_tightest", "quota_parts", "class_epochs",
		"answer_insert_one", "fence_update_one", "free_delete_one", "projects_placed", "classes_there", "hold_insert_one", "event_insert_one",
	}, end) {
		want = append(want, "        "+statement)
	}
	require.Equal(t, want, lines)

	server := the(t, spans, "createClaim")
	require.Equal(t, tracespb.Span_SPAN_KIND_SERVER, server.GetKind())
	require.Equal(t, map[string]any{
		"http.request.method": "POST", "http.route": "/v1/projects/:project/claims", "http.response.status_code": int64(http.StatusCreated),
	}, attributes(server))

	about := attributes(the(t, spans, "use_case createClaim"))
	require.GreaterOrEqual(t, about["carve.batch.wait"], 0.0)
	delete(about, "carve.batch.wait")
	require.Equal(t, map[string]any{
		"carve.class": "team-a/small", "carve.pool": "team-a/net", "carve.prefix_length": int64(28), "carve.outcome": "bound",
		"carve.tx.attempts": int64(1), "carve.batch.size": int64(1),
	}, about)
	require.Equal(t, map[string]any{"carve.tx.op": "claim_group", "carve.tx.attempt": int64(1), "carve.tx.end": "committed"},
		attributes(the(t, spans, "attempt claim_group")))
	insert := the(t, spans, "hold_insert_one")
	require.Equal(t, tracespb.Span_SPAN_KIND_CLIENT, insert.GetKind())
	about = attributes(insert)
	require.Greater(t, about["db.operation.batch.size"], int64(1), "all that a transaction writes is one round trip")
	delete(about, "db.operation.batch.size")
	require.Equal(t, map[string]any{
		"db.system.name": system, "db.query.summary": "hold_insert_one", "db.response.returned_rows": int64(1),
	}, about)
	for _, s := range spans {
		require.LessOrEqual(t, s.GetStartTimeUnixNano(), s.GetEndTimeUnixNano(), s.GetName())
	}
	require.True(t, f.to.service["carve"], "what the service calls itself")
}

func TestSpansContainNoCallerText(t *testing.T) {
	f := follow(t)
	f.claim(t, traceNumber("b1"), "hush-claim")
	status, _ := f.ask(t, traceNumber("b2"), http.MethodGet, claimsOfA+"/hush-claim?hush=query", "")
	require.Equal(t, http.StatusBadRequest, status)
	status, _ = f.ask(t, traceNumber("b3"), http.MethodPost, "/v1/projects/team-a/allocations/hush-nothing", "")
	require.Equal(t, http.StatusMethodNotAllowed, status)
	status, _ = f.ask(t, traceNumber("b4"), "HUSHHUSH", "/hush/path", "")
	require.Equal(t, http.StatusNotFound, status)
	f.stop()
	require.NotEmpty(t, f.to.trace(traceNumber("b1")))
	require.NotEmpty(t, f.to.trace(traceNumber("b4")))
	for _, s := range f.to.spans {
		text := strings.ToLower(s.String())
		require.NotContains(t, text, "hush", s.GetName())
		require.NotContains(t, text, "10.77.", s.GetName())
		require.NotContains(t, text, "insert into", s.GetName())
		require.NotContains(t, text, "select", s.GetName())
	}
}

func TestReadsRecordAttempts(t *testing.T) {
	f := follow(t)
	for n, path := range map[string]string{"b5": claimsOfA + "/warm", "b6": claimsOfA, "b7": claimsOfA + "?consistency=stale", "b8": "/v1/projects/team-a/pools/net"} {
		status, answer := f.ask(t, traceNumber(n), http.MethodGet, path, "")
		require.Equal(t, http.StatusOK, status, answer)
	}
	f.stop()
	for _, n := range []string{"b5", "b6", "b7", "b8"} {
		spans, statements := f.to.trace(traceNumber(n)), 0
		for _, s := range spans {
			if attributes(s)["db.query.summary"] == nil {
				continue
			}
			statements++
			require.True(t, slices.ContainsFunc(spans, func(parent *tracespb.Span) bool {
				return bytes.Equal(parent.GetSpanId(), s.GetParentSpanId()) && strings.HasPrefix(parent.GetName(), "attempt ")
			}), s.GetName())
		}
		require.NotZero(t, statements, n)
		require.Empty(t, attributes(named(spans, spanOf(spans))[0])["carve.tx.attempts"], "nothing was written")
	}
}

// spanOf returns the name of the span of the use case.
func spanOf(spans []*tracespb.Span) string {
	for _, s := range spans {
		if strings.HasPrefix(s.GetName(), "use_case ") {
			return s.GetName()
		}
	}
	return ""
}

// ofClaims restricts a fault at COMMIT to transactions that write holds. Without it, the fault could hit a background job.
func ofClaims(f pgfault.Fault) pgfault.Fault {
	holds := map[int]bool{} // by connection
	return func(e pgfault.Event) pgfault.Action {
		switch {
		case e.Kind == pgfault.Begin:
			holds[e.Conn] = false
		case e.Kind == pgfault.Statement && e.Writes && slices.Contains(e.Tables, "holds"):
			holds[e.Conn] = true
		case e.Kind == pgfault.Commit && holds[e.Conn]:
			return f(e)
		}
		return pgfault.Action{}
	}
}

func TestRetryRecordsTwoAttempts(t *testing.T) {
	dbtest.OnPostgres(t) // on CockroachDB, the failure comes at RELEASE, and the same attempt continues at its savepoint
	f := follow(t)
	f.proxy.SetRules(pgfault.Once(ofClaims(pgfault.CommitSerializationFailure())))
	id := traceNumber("c1")
	f.claim(t, id, "again")
	f.stop()
	spans := f.to.trace(id)
	attempts := named(spans, "attempt claim_group")
	require.Len(t, attempts, 2)
	require.Equal(t, map[string]any{
		"carve.tx.op": "claim_group", "carve.tx.attempt": int64(1), "carve.tx.end": "again", "db.response.status_code": "40001",
	}, attributes(attempts[0]))
	require.Equal(t, tracespb.Status_STATUS_CODE_ERROR, attempts[0].GetStatus().GetCode())
	require.Equal(t, map[string]any{"carve.tx.op": "claim_group", "carve.tx.attempt": int64(2), "carve.tx.end": "committed"}, attributes(attempts[1]))
	commits := named(spans, "commit")
	require.Len(t, commits, 2)
	require.Equal(t, attempts[0].GetSpanId(), commits[0].GetParentSpanId())
	require.Equal(t, "40001", attributes(commits[0])["error.type"])
	require.EqualValues(t, 2, attributes(the(t, spans, "use_case createClaim"))["carve.tx.attempts"])
	require.Equal(t, attempts[0].GetParentSpanId(), the(t, spans, "claim_group").GetSpanId())
}

// The test delays the COMMIT of the first claim until two other claims wait. These two form one group. The span of the group is in the trace of one
// request, and links connect it with the span of the other request.
func TestClaimsOfOneGroupAreLinked(t *testing.T) {
	f := follow(t)
	gate := pgfault.NewGate()
	f.proxy.SetRules(pgfault.Once(ofClaims(pgfault.On(pgfault.Commit, pgfault.Hold(gate)))))
	var running sync.WaitGroup
	running.Go(func() { f.claim(t, traceNumber("d1"), "first") })
	_, err := gate.Await(t.Context())
	require.NoError(t, err)
	running.Go(func() { f.claim(t, traceNumber("d2"), "second") })
	running.Go(func() { f.claim(t, traceNumber("d3"), "third") })
	require.Eventually(t, func() bool { return strings.Contains(figures(t, f.App), "\ncarve_queue_waiting 2\n") }, time.Minute, 10*time.Millisecond)
	gate.Open()
	running.Wait()
	f.stop()

	require.EqualValues(t, 1, attributes(the(t, f.to.trace(traceNumber("d1")), "use_case createClaim"))["carve.batch.size"])
	owner, guest := f.to.trace(traceNumber("d2")), f.to.trace(traceNumber("d3"))
	if len(named(owner, "claim_group")) == 0 {
		owner, guest = guest, owner
	}
	group, served := the(t, owner, "claim_group"), the(t, guest, "use_case createClaim")
	require.Empty(t, named(guest, "claim_group"), "it is in the trace of one of them")
	require.EqualValues(t, 2, attributes(group)["carve.batch.size"])
	require.Len(t, served.GetLinks(), 1)
	require.Equal(t, group.GetTraceId(), served.GetLinks()[0].GetTraceId())
	require.Equal(t, group.GetSpanId(), served.GetLinks()[0].GetSpanId())
	require.Len(t, group.GetLinks(), 1)
	require.Equal(t, served.GetTraceId(), group.GetLinks()[0].GetTraceId())
	require.Equal(t, served.GetSpanId(), group.GetLinks()[0].GetSpanId())
	for _, each := range []*tracespb.Span{served, the(t, owner, "use_case createClaim")} {
		about := attributes(each)
		require.EqualValues(t, 2, about["carve.batch.size"])
		require.EqualValues(t, 1, about["carve.tx.attempts"])
		require.Greater(t, about["carve.batch.wait"], 0.0, "it waited for the first one's COMMIT")
	}
}

func TestRefusalNamesItsTraceID(t *testing.T) {
	f := follow(t)
	id := traceNumber("e1")
	status, problem := f.ask(t, id, http.MethodPost, claimsOfA, `{"metadata": {"name": "large"}, "spec": {"poolRef": {"name": "net"}, "prefixLength": 12}}`)
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Equal(t, id, problem["traceId"])
	f.stop()
	spans := f.to.trace(id)
	server := the(t, spans, "createClaim")
	require.Equal(t, "never_satisfiable", attributes(server)["carve.error.code"])
	require.Equal(t, "never_satisfiable", attributes(the(t, spans, "use_case createClaim"))["carve.outcome"])
	require.EqualValues(t, 12, attributes(the(t, spans, "use_case createClaim"))["carve.prefix_length"])
	require.Empty(t, server.GetStatus().GetCode(), "a refusal is no failure of the server")
	found := 0
	for _, line := range f.log.lines() {
		if strings.Contains(line, `"trace_id":"`+id+`"`) && strings.Contains(line, `"span_id":"`+hex.EncodeToString(server.GetSpanId())+`"`) {
			require.Equal(t, 1, strings.Count(line, "trace_id"), line)
			found++
		}
	}
	require.Equal(t, 2, found, "the access log, and why")
	require.NotContains(t, strings.Join(f.log.lines(), "\n"), "hush")
}

func TestMetricsAreExportedByOTLP(t *testing.T) {
	f := follow(t)
	f.claim(t, traceNumber("f1"), "measured")
	// A bucket shows the trace of one random request as its exemplar.
	example := regexp.MustCompile(`http_server_request_duration_seconds_bucket\{[^}]*operation="createClaim"[^}]*\} \d+ # \{[^}]*trace_id="([0-9a-f]{32})"`).FindStringSubmatch(f.withExemplars(t))
	require.NotNil(t, example, "an exemplar")
	f.stop()
	require.NotEmpty(t, f.to.trace(example[1]), "it leads to a trace")
	require.Subset(t, f.to.known(), []string{"carve.claims", "carve.group.size", "carve.tx.attempts", "http.server.request.duration", "carve.build.info"})
	var bound int64
	for _, p := range f.to.metrics["carve.claims"].GetSum().GetDataPoints() {
		require.Equal(t, "team-a/small", textOf(p.GetAttributes(), "class"))
		bound += p.GetAsInt()
	}
	require.EqualValues(t, 2, bound)
}

func TestUnreachableCollectorDoesNotAffectRequests(t *testing.T) {
	gone := collect(t)
	gone.Close()
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "10") // ms
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "200")
	log := &journal{}
	config, _, err := ParseConfig([]string{"--listen=127.0.0.1:0", "--auth=dev", "--max-connections=4", "--database-url=" + dbtest.New(t)}, nil)
	require.NoError(t, err)
	a, err := Start(t.Context(), config, log)
	require.NoError(t, err)
	for range 20 {
		require.Equal(t, http.StatusOK, get(t, http.DefaultClient, "http://"+a.Addr()+"/v1/projects", "").status)
	}
	require.Eventually(t, func() bool {
		return strings.Contains(figures(t, a), `carve_telemetry_exports_total{outcome="failed",signal="traces"}`)
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, a.Close(context.Background()), "what could not be sent is no failure of the server")
	said := 0
	for _, line := range log.lines() {
		if strings.Contains(line, "cannot export telemetry") && strings.Contains(line, "signal=traces") {
			said++
		}
	}
	require.Equal(t, 1, said, "now and then, and not for each batch")
}

func TestInvalidTelemetryVariablesFailTheStart(t *testing.T) {
	for name, value := range map[string]string{
		"OTEL_TRACES_EXPORTER": "zipkin", "OTEL_METRICS_EXPORTER": "statsd", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_TRACES_SAMPLER": "sometimes",
		"OTEL_PROPAGATORS": "b3",
	} {
		t.Run(name, func(t *testing.T) {
			collect(t)
			t.Setenv(name, value)
			config, _, err := ParseConfig([]string{"--listen=127.0.0.1:0", "--auth=dev", "--database-url=postgresql:///nowhere"}, nil)
			require.NoError(t, err)
			_, err = Start(t.Context(), config, io.Discard)
			require.ErrorContains(t, err, name)
			require.ErrorContains(t, err, value)
		})
	}
}
