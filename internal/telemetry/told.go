package telemetry

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/carve-ipam/carve/internal/ipam"
)

// bound is the outcome of a claim that was not refused.
const bound = "bound"

// ClaimDecided counts a claim. class is project/name, or "" when no class took part; refusal is "" for a claim that was bound.
func (m *Metrics) ClaimDecided(ctx context.Context, class string, refusal ipam.Code) {
	outcome := string(refusal)
	if outcome == "" {
		outcome = bound
	}
	m.claims.Add(ctx, 1, metric.WithAttributeSet(attribute.NewSet(labelClass.String(m.classes.bounded(class)), labelOutcome.String(outcome))))
}

// GroupRan counts a transaction that served so many members.
func (m *Metrics) GroupRan(ctx context.Context, members int) { m.groups.Record(ctx, int64(members)) }

// LoanMoved counts a move of a block between regions that was tried, and is over.
func (m *Metrics) LoanMoved(ctx context.Context, move, outcome string) {
	m.loans.Add(ctx, 1, metric.WithAttributeSet(attribute.NewSet(labelMove.String(move), labelOutcome.String(outcome))))
}

// ConsumersEnded counts consumers that ended.
func (m *Metrics) ConsumersEnded(ctx context.Context, because ipam.EndReason, n int) {
	m.ended.Add(ctx, int64(n), metric.WithAttributeSet(attribute.NewSet(labelReason.String(string(because)))))
}

// RealmHeld counts that many consumers of a realm had expired at once.
func (m *Metrics) RealmHeld(ctx context.Context) { m.held.Add(ctx, 1) }

// WebhookTried counts what was sent to a webhook, by what came of it.
func (m *Metrics) WebhookTried(ctx context.Context, outcome string) {
	m.tried.Add(ctx, 1, metric.WithAttributeSet(attribute.NewSet(labelOutcome.String(outcome))))
}

// WebhookGaveUp counts a delivery to a webhook that was given up.
func (m *Metrics) WebhookGaveUp(ctx context.Context) { m.gaveUp.Add(ctx, 1) }

// AttemptEnded counts one run of a transaction or read. sqlState is "" when the database reported no error.
func (m *Metrics) AttemptEnded(ctx context.Context, op, end, sqlState string) {
	m.attempts.Add(ctx, 1, metric.WithAttributeSet(attribute.NewSet(labelOp.String(op), labelEnd.String(end), labelSQLState.String(sqlState))))
}

// RequestServed counts an answer and how long it took. route is the template that the request matched, "" if none; operation is that of
// the contract, "" for what is outside of it.
func (m *Metrics) RequestServed(ctx context.Context, method, route, operation string, status int, took time.Duration) {
	m.requests.Record(ctx, took.Seconds(), m.served.of(answered{knownMethod(method), route, operation, status})...)
}

// knownMethod bounds what a caller can write for a method, as the conventions ask.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
		http.MethodConnect, http.MethodTrace:
		return method
	default:
		return semconv.HTTPRequestMethodOther.Value.AsString()
	}
}
