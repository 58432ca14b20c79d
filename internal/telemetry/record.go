package telemetry

import (
	"context"
	"net/http"
	"time"

	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/carve-ipam/carve/internal/ipam"
)

// outcomeBound is the outcome of a claim that received a block.
const outcomeBound = "bound"

// ClaimDecided counts a claim. class is project/name, or "" if the claim has no class. refusal is the error code, or "" for a claim that received a
// block.
func (m *Metrics) ClaimDecided(ctx context.Context, class string, refusal ipam.Code) {
	outcome := string(refusal)
	if outcome == "" {
		outcome = outcomeBound
	}
	add(ctx, m.claims, 1, labelClass.String(m.classes.admit(class)), labelOutcome.String(outcome))
}

// GroupRan records the number of requests that one transaction served.
func (m *Metrics) GroupRan(ctx context.Context, members int) { m.groups.Record(ctx, int64(members)) }

// LoanMoved counts a finished attempt to move a block between regions.
func (m *Metrics) LoanMoved(ctx context.Context, move, outcome string) {
	add(ctx, m.loans, 1, labelMove.String(move), labelOutcome.String(outcome))
}

// ConsumersEnded counts ended consumers.
func (m *Metrics) ConsumersEnded(ctx context.Context, because ipam.EndReason, n int) {
	add(ctx, m.ended, int64(n), labelReason.String(string(because)))
}

// RealmHeld counts a realm in which so many consumers expired at once that Carve ends none before a confirmation.
func (m *Metrics) RealmHeld(ctx context.Context) { m.held.Add(ctx, 1) }

// WebhookTried counts a delivery attempt to a webhook, by outcome.
func (m *Metrics) WebhookTried(ctx context.Context, outcome string) {
	add(ctx, m.tried, 1, labelOutcome.String(outcome))
}

// WebhookGaveUp counts a webhook delivery that the server does not retry any more.
func (m *Metrics) WebhookGaveUp(ctx context.Context) { m.gaveUp.Add(ctx, 1) }

// AttemptEnded counts one attempt at a transaction or read. sqlState is "" if the database reported no error.
func (m *Metrics) AttemptEnded(ctx context.Context, op, end, sqlState string) {
	add(ctx, m.attempts, 1, labelOp.String(op), labelEnd.String(end), labelSQLState.String(sqlState))
}

// RequestServed records a response and its duration. route is the path's template, or "" for an unknown path. operation is the operationId, or ""
// outside the contract.
func (m *Metrics) RequestServed(ctx context.Context, method, route, operation string, status int, took time.Duration) {
	m.requests.Record(ctx, took.Seconds(), m.served.options(responseKey{knownMethod(method), route, operation, status})...)
}

// knownMethod limits the label to the known methods, as the conventions require. Otherwise a caller could invent values.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
		http.MethodConnect, http.MethodTrace:
		return method
	default:
		return semconv.HTTPRequestMethodOther.Value.AsString()
	}
}
