package telemetry

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"

	"github.com/carve-ipam/carve/internal/ipam"
)

// everything returns metrics in which each instrument has at least one value.
func everything(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	m, err := New(t.Context(), Options{Version: "1.2.3", Commit: "abc", Env: environment("", "")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Shutdown(context.Background())) })
	now := time.Unix(1_700_000_000, 0)
	name := ipam.Ref{Project: "team", Name: "net"}
	figures := []PoolFigures{{name, 0.5, time.Hour}}
	require.NoError(t, m.WatchConnections(func() Connections { return Connections{} }))
	require.NoError(t, m.WatchLoad(func() Load {
		return Load{Shed: map[string]int64{"pool": 1}, Alerts: map[ipam.AlertAbout]int64{ipam.AboutPools: 1}}
	}))
	require.NoError(t, m.WatchClients(func() []Clients { return []Clients{{Listener: "api", Closed: map[string]int64{"evicted": 1}}} }))
	require.NoError(t, m.WatchCertificates(func() []Certificate { return []Certificate{{Name: "server", Expires: now}} }))
	require.NoError(t, m.WatchPools("eu", func() Pools {
		return Pools{
			Fullest: figures, Scarce: figures, Fenced: []ipam.Ref{name}, Count: map[string]int64{"full": 1}, Closed: 1, Ended: now, Took: time.Second,
		}
	}))
	jobs, err := m.WatchJobs(map[string]time.Duration{"purge_projects": time.Second}, now)
	require.NoError(t, err)
	jobs.Ran(t.Context(), "purge_projects", now, time.Second, nil)
	m.ClaimDecided(t.Context(), "team/small", ipam.CodePoolExhausted)
	m.GroupRan(t.Context(), 1)
	m.LoanMoved(t.Context(), "lend", "moved")
	m.ConsumersEnded(t.Context(), ipam.ReasonExpired, 1)
	m.RealmHeld(t.Context())
	m.WebhookTried(t.Context(), "delivered")
	m.WebhookGaveUp(t.Context())
	m.AttemptEnded(t.Context(), "claim_group", "committed", "")
	m.RequestServed(t.Context(), http.MethodGet, "/healthz", "getHealth", http.StatusOK, time.Second)
	told := newOutcomes(traces, Options{}.quiet())
	told.counts.Store(&m.exports)
	told.note(t.Context(), errors.New("gone"))
	p := expfmt.NewTextParser(model.UTF8Validation)
	all, err := p.TextToMetricFamilies(strings.NewReader(scrape(t, m)))
	require.NoError(t, err)
	return all
}

var (
	tableLine = regexp.MustCompile(`^\| ([^|]*) \|(.*)$`)
	code      = regexp.MustCompile("`([^`]+)`")
)

// table returns the rows of a table in docs/telemetry.md, which it finds by its header. The first column has one or several names in quotes. For each
// name, table returns the other columns.
func table(t *testing.T, header string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/telemetry.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "\n| "+header+" |")
	require.True(t, found, header)
	out := map[string][]string{}
	for line := range strings.Lines(rest[strings.Index(rest, "\n")+1:]) {
		if strings.HasPrefix(line, "|---") {
			continue
		}
		m := tableLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			break
		}
		for _, name := range code.FindAllStringSubmatch(m[1], -1) {
			out[name[1]] = strings.Split(strings.Trim(m[2], "|"), "|")
		}
	}
	require.NotEmpty(t, out, header)
	return out
}

func TestDocumentedMetricsMatch(t *testing.T) {
	t.Parallel()
	docs, have := table(t, "metric"), everything(t)
	for name, family := range have {
		if strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_") || strings.HasPrefix(name, "promhttp_") {
			continue
		}
		columns, ok := docs[name]
		if !assert.True(t, ok, "docs/telemetry.md does not tell of %s", name) {
			continue
		}
		assert.Equal(t, strings.ToLower(family.GetType().String()), strings.TrimSpace(columns[0]), name)
		if name == "target_info" {
			continue
		}
		var labels, told []string
		for _, l := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		for _, m := range code.FindAllStringSubmatch(columns[1], -1) {
			told = append(told, m[1])
		}
		slices.Sort(told)
		assert.Equal(t, labels, told, name)
	}
	for name := range docs {
		assert.Contains(t, have, name, "docs/telemetry.md tells of what there is not")
	}
}

// namedIn returns the constants in names.go that have a prefix.
func namedIn(t *testing.T, prefix string) (out []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, prefix) {
			out = append(out, v.Names[0].Name)
		}
		return true
	})
	require.NotEmpty(t, out)
	return out
}

func TestDocumentedAttributesMatch(t *testing.T) {
	t.Parallel()
	all := []attribute.Key{
		attrErrorCode, attrClass, attrPool, attrPrefixLength, attrOutcome, attrAttempts, attrBatchSize, attrWaited, attrTask, attrDone, attrOp, attrAttempt, attrEnd,
		attrMethod, attrRoute, attrStatus, attrErrorType, attrDatabase, attrStatement, attrRows, attrSQLState, attrPipelined,
	}
	require.Len(t, all, len(namedIn(t, "attr")), "this test knows them all")
	docs := table(t, "attribute")
	for _, a := range all {
		assert.Contains(t, docs, string(a))
	}
	assert.Len(t, docs, len(all), "docs/telemetry.md tells of what there is not")
	spans := table(t, "span")
	for _, s := range []string{spanUnmatched, spanUseCase + "<operation>", spanGroup, spanAttempt + "<name>", spanJob + "<task>"} {
		assert.Contains(t, spans, s)
	}
	require.Len(t, namedIn(t, "span"), 5)
}
