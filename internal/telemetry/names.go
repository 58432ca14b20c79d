package telemetry

import (
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/semconv/v1.43.0/dbconv"
	"go.opentelemetry.io/otel/semconv/v1.43.0/httpconv"
)

// This file contains the names of all metrics, spans and attributes: Carve's own names and those from OpenTelemetry's conventions. docs/telemetry.md
// explains them, and a test compares the page with this file.

// about is the name, unit and description of an instrument.
type about struct{ name, unit, text string }

// Instruments that events update.
var (
	ofClaims   = about{"carve.claims", "", "Claims requested, by class and outcome: bound, or the code of the refusal."}
	ofGroups   = about{"carve.group.size", "", "Claims and releases per transaction on a pool."}
	ofAttempts = about{"carve.tx.attempts", "", "Attempts at transactions and reads, by end and SQLSTATE of the failure."}
	ofRequests = about{httpconv.ServerRequestDuration{}.Name(), httpconv.ServerRequestDuration{}.Unit(), httpconv.ServerRequestDuration{}.Description()}
	ofLoans    = about{"carve.loans", "", "Attempts to move blocks between regions, by direction and outcome."}
	ofEnded    = about{"carve.consumers.ended", "", "Consumers that ended, by reason: Ended by a caller, or Expired."}
	ofHeld     = about{"carve.realms.held", "", "Times that many consumers in a realm expired at once, so that Carve ended none until a confirmation."}
	ofTried    = about{"carve.webhook.deliveries", "", "Attempts to deliver to webhooks, by outcome."}
	ofGaveUp   = about{"carve.webhook.dead_letters", "", "Deliveries to webhooks that Carve gave up."}
	ofRuns     = about{"carve.job.runs", "", "Runs of background jobs, by outcome."}
	ofJobTimes = about{"carve.job.duration", "s", "Duration of the runs of background jobs."}
	ofExports  = about{"carve.telemetry.exports", "", "OTLP batches of traces and metrics, by outcome."}
)

// Instruments that each scrape reads by a callback.
var (
	ofBuild          = about{"carve.build.info", "", "1, with the version and commit of this build."}
	ofConnections    = about{dbconv.ClientConnectionCount{}.Name(), "", "Connections to the database, by state: used or idle."}
	ofMaxConnections = about{dbconv.ClientConnectionMax{}.Name(), "", "Limit on connections to the database."}
	ofWaits          = about{"carve.db.waits", "", "Waits for a connection to the database."}
	ofWaited         = about{"carve.db.wait", "s", "Total time of the waits for a connection to the database."}
	ofInFlight       = about{"carve.requests.in_flight", "", "Running requests."}
	ofMaxInFlight    = about{"carve.requests.in_flight.max", "", "Limit on running requests; 0 without a limit."}
	ofAtTheDoor      = about{"carve.requests.waiting", "", "Requests that wait to be admitted or refused."}
	ofShed           = about{"carve.requests.shed", "", "Requests refused for overload, by reason."}
	ofClients        = about{"carve.client.connections", "", "Open connections from clients, by listener."}
	ofMaxClients     = about{"carve.client.connections.max", "", "Limit on connections from clients, by listener."}
	ofClosedClients  = about{"carve.client.connections.closed", "", "Connections from clients closed at the limit, by listener and reason: evicted to make room for another, or refused."}
	ofQueue          = about{"carve.queue.waiting", "", "Claims and releases that wait for their pool."}
	ofOldest         = about{"carve.webhook.oldest", "s", "Age of the oldest undelivered webhook message in this region."}
	ofAlerts         = about{"carve.alerts", "", "Current alerts in this region, about Pools or Quotas."}
	ofAlertsLate     = about{"carve.alerts.late", "s", "Delay of the most overdue alert rule in this region."}
	ofLongest        = about{"carve.queue.longest", "", "Claims and releases in the longest queue of a pool."}
	ofFollowers      = about{"carve.feed.followers", "", "Followers of the feed."}
	ofFollowed       = about{"carve.feed.projects", "", "Projects with followers of the feed."}
	ofExpiry         = about{"carve.certificate.expiry.timestamp", "s", "Expiry of the server certificate, or of the first client CA, in seconds since 1970."}
	ofReloadFailed   = about{"carve.certificate.reload.failed", "", "1 if the certificate files are invalid and the previous certificate is still in use."}
	ofReloads        = about{"carve.certificate.reloads", "", "Reloads of changed certificate files, by outcome."}
	ofLastSuccess    = about{"carve.job.last_success.timestamp", "s", "Last success of a background job, or the start of the server, in seconds since 1970."}
	ofInterval       = about{"carve.job.interval", "s", "Interval between the runs of a background job."}
	ofUtilization    = about{"carve.pool.utilization", "1", "Used share of a pool in its home region, for the fullest pools."}
	ofRunway         = about{"carve.pool.runway", "s", "Time until a pool is full at the recent pace, for the fullest pools."}
	ofFullness       = about{"carve.pools", "", "Pools with this home region, by fullness."}
	ofPassEnd        = about{"carve.pools.pass.timestamp", "s", "End of the last pass over all pools, in seconds since 1970."}
	ofPassTime       = about{"carve.pools.pass.duration", "s", "Duration of the last pass over all pools."}
	ofFenced         = about{"carve.pools.fenced", "", "Pools that cannot be used in this region, because their data here and their loan records come from different backups."}
	ofFencedPool     = about{"carve.pool.fenced", "", "1 for a pool that cannot be used in this region, because its data here and its loan records come from different backups."}
	ofStock          = about{"carve.stock.free", "1", "Free space in this region of a pool with another home region, relative to the last loan, for the pools with the least."}
	ofStockRunway    = about{"carve.stock.runway", "s", "Time for which the free space in this region of a pool with another home region lasts at the pace of the last loans."}
)

// Labels of Carve's own, not from OpenTelemetry's conventions.
const (
	labelClass       = attribute.Key("class")
	labelOutcome     = attribute.Key("outcome")
	labelOp          = attribute.Key("op")
	labelEnd         = attribute.Key("end")
	labelSQLState    = attribute.Key("sqlstate")
	labelOperation   = attribute.Key("operation")
	labelAbout       = attribute.Key("about")
	labelReason      = attribute.Key("reason")
	labelListener    = attribute.Key("listener")
	labelCertificate = attribute.Key("certificate")
	labelMove        = attribute.Key("move")
	labelTask        = attribute.Key("task") // name of a background job; not "job", because Prometheus uses that label for its own targets
	labelSignal      = attribute.Key("signal")
	labelProject     = attribute.Key("project")
	labelPool        = attribute.Key("pool")
	labelRegion      = attribute.Key("region")
	labelFullness    = attribute.Key("fullness")
	labelVersion     = attribute.Key("version")
	labelCommit      = attribute.Key("commit")
	labelGo          = attribute.Key("go_version")
)

// Names of spans. The span of a request has the name of its operation. The span of a statement has the name of the statement's file.
const (
	spanUnmatched = "unmatched"   // a request that matches no operation
	spanUseCase   = "use_case "   // followed by the operation
	spanAttempt   = "attempt "    // followed by the name of the transaction or read
	spanJob       = "job "        // followed by the name of the background job
	spanGroup     = "claim_group" // the transaction that serves the queue of a pool, with all its attempts
)

// Attributes of spans of Carve's own, not from OpenTelemetry's conventions.
const (
	attrErrorCode    = attribute.Key("carve.error.code")
	attrClass        = attribute.Key("carve.class")
	attrPool         = attribute.Key("carve.pool")
	attrPrefixLength = attribute.Key("carve.prefix_length")
	attrOutcome      = attribute.Key("carve.outcome")
	attrAttempts     = attribute.Key("carve.tx.attempts")
	attrBatchSize    = attribute.Key("carve.batch.size")
	attrWaited       = attribute.Key("carve.batch.wait") // seconds
	attrTask         = attribute.Key("carve.job.task")
	attrDone         = attribute.Key("carve.job.done")
	attrOp           = attribute.Key("carve.tx.op")
	attrAttempt      = attribute.Key("carve.tx.attempt") // from 1
	attrEnd          = attribute.Key("carve.tx.end")
)

// Attributes of spans from OpenTelemetry's conventions.
const (
	attrMethod    = semconv.HTTPRequestMethodKey
	attrRoute     = semconv.HTTPRouteKey
	attrStatus    = semconv.HTTPResponseStatusCodeKey
	attrErrorType = semconv.ErrorTypeKey
	attrDatabase  = semconv.DBSystemNameKey
	attrStatement = semconv.DBQuerySummaryKey
	attrRows      = semconv.DBResponseReturnedRowsKey
	attrSQLState  = semconv.DBResponseStatusCodeKey
	attrPipelined = semconv.DBOperationBatchSizeKey
)

// Keys of the ids of trace and span in log lines.
const (
	logTrace = "trace_id"
	logSpan  = "span_id"
)
