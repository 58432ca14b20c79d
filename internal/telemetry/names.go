package telemetry

import (
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/semconv/v1.43.0/dbconv"
	"go.opentelemetry.io/otel/semconv/v1.43.0/httpconv"
)

// This file names all metrics, spans and attributes: Carve's own names and those from OpenTelemetry's conventions. docs/telemetry.md explains them,
// and a test compares the page with this file.

// description describes an instrument that events update: name, unit and description.
type description struct{ name, unit, text string }

// Instruments that events update.
var (
	ofClaims   = description{"carve.claims", "", "Claims requested, by class and outcome: bound, or the code of the refusal."}
	ofGroups   = description{"carve.group.size", "", "Claims and releases per transaction on a pool."}
	ofAttempts = description{"carve.tx.attempts", "", "Attempts at transactions and reads, by end and SQLSTATE of the failure."}
	ofRequests = description{httpconv.ServerRequestDuration{}.Name(), httpconv.ServerRequestDuration{}.Unit(), httpconv.ServerRequestDuration{}.Description()}
	ofLoans    = description{"carve.loans", "", "Attempts to move blocks between regions, by direction and outcome."}
	ofEnded    = description{"carve.consumers.ended", "", "Consumers that ended, by reason: Ended by a caller, or Expired."}
	ofHeld     = description{"carve.realms.held", "", "Mass expiries of a realm's consumers, for which Carve ended no consumer without a confirmation."}
	ofTried    = description{"carve.webhook.deliveries", "", "Attempts to deliver to webhooks, by outcome."}
	ofGaveUp   = description{"carve.webhook.dead_letters", "", "Deliveries to webhooks that Carve gave up."}
	ofRuns     = description{"carve.job.runs", "", "Runs of background jobs, by outcome."}
	ofJobTimes = description{"carve.job.duration", "s", "Duration of the runs of background jobs."}
	ofExports  = description{"carve.telemetry.exports", "", "OTLP batches of traces and metrics, by outcome."}
)

// Instruments that each scrape reads by a callback, by kind; see kindOf.
var (
	ofBuild          = gauge("carve.build.info", "", "1, with the version and commit of this build.")
	ofConnections    = level(dbconv.ClientConnectionCount{}.Name(), "", "Connections to the database, by state: used or idle.")
	ofMaxConnections = level(dbconv.ClientConnectionMax{}.Name(), "", "Limit on connections to the database.")
	ofWaits          = count("carve.db.waits", "", "Waits for a connection to the database.")
	ofWaited         = sum("carve.db.wait", "s", "Total time of the waits for a connection to the database.")
	ofInFlight       = gauge("carve.requests.in_flight", "", "Running requests.")
	ofMaxInFlight    = gauge("carve.requests.in_flight.max", "", "Limit on running requests; 0 without a limit.")
	ofWaitForSlot    = gauge("carve.requests.waiting", "", "Requests that wait to be admitted or refused.")
	ofShed           = count("carve.requests.shed", "", "Requests refused for overload, by reason.")
	ofClients        = gauge("carve.client.connections", "", "Open connections from clients, by listener.")
	ofMaxClients     = gauge("carve.client.connections.max", "", "Limit on connections from clients, by listener.")
	ofClosedClients  = count("carve.client.connections.closed", "", "Client connections that the server closed at the limit, by listener and reason: evicted to make room for another, or refused.")
	ofQueue          = gauge("carve.queue.waiting", "", "Claims and releases that wait for their pool.")
	ofOldest         = figure("carve.webhook.oldest", "s", "Age of the oldest undelivered webhook message in this region.")
	ofAlerts         = gauge("carve.alerts", "", "Current alerts in this region, about Pools or Quotas.")
	ofAlertsLate     = figure("carve.alerts.late", "s", "Delay of the most overdue alert rule in this region.")
	ofLongest        = gauge("carve.queue.longest", "", "Claims and releases in the longest queue of a pool.")
	ofFollowers      = gauge("carve.feed.followers", "", "Followers of the feed.")
	ofFollowed       = gauge("carve.feed.projects", "", "Projects with followers of the feed.")
	ofExpiry         = figure("carve.certificate.expiry.timestamp", "s", "Expiry of the server certificate, or of the first client CA, in seconds since 1970.")
	ofReloadFailed   = gauge("carve.certificate.reload.failed", "", "1 if the certificate files are invalid and the previous certificate is still in use.")
	ofReloads        = count("carve.certificate.reloads", "", "Reloads of changed certificate files, by outcome.")
	ofLastSuccess    = figure("carve.job.last_success.timestamp", "s", "Last success of a background job, or the start of the server, in seconds since 1970.")
	ofInterval       = figure("carve.job.interval", "s", "Interval between the runs of a background job.")
	ofUtilization    = figure("carve.pool.utilization", "1", "Used share of a pool in its home region, for the fullest pools.")
	ofRunway         = figure("carve.pool.runway", "s", "Time until a pool is full at the recent pace, for the fullest pools.")
	ofFullness       = gauge("carve.pools", "", "Pools with this home region, by fullness.")
	ofPassEnd        = figure("carve.pools.pass.timestamp", "s", "End of the last pass over all pools, in seconds since 1970.")
	ofPassTime       = figure("carve.pools.pass.duration", "s", "Duration of the last pass over all pools.")
	ofFenced         = gauge("carve.pools.fenced", "", "Pools that cannot be used in this region, because their data here and their loan records come from different backups.")
	ofFencedPool     = gauge("carve.pool.fenced", "", "1 for a pool that cannot be used in this region, because its data here and its loan records come from different backups.")
	ofStock          = figure("carve.stock.free", "1", "Free space in this region, relative to the last loan, of a pool with another home region; only the pools with the least space.")
	ofStockRunway    = figure("carve.stock.runway", "s", "Time for which the free space in this region lasts at the pace of the last loans, for a pool with another home region.")
)

// Carve's own labels, not from OpenTelemetry's conventions.
const (
	labelClass       attribute.Key = "class"
	labelOutcome     attribute.Key = "outcome"
	labelOp          attribute.Key = "op"
	labelEnd         attribute.Key = "end"
	labelSQLState    attribute.Key = "sqlstate"
	labelOperation   attribute.Key = "operation"
	labelAbout       attribute.Key = "about"
	labelReason      attribute.Key = "reason"
	labelListener    attribute.Key = "listener"
	labelCertificate attribute.Key = "certificate"
	labelMove        attribute.Key = "move"
	labelTask        attribute.Key = "task" // a background job's name; not "job", because Prometheus uses that label for its own targets
	labelSignal      attribute.Key = "signal"
	labelProject     attribute.Key = "project"
	labelPool        attribute.Key = "pool"
	labelRegion      attribute.Key = "region"
	labelFullness    attribute.Key = "fullness"
	labelVersion     attribute.Key = "version"
	labelCommit      attribute.Key = "commit"
	labelGo          attribute.Key = "go_version"
)

// Span names. A request's span has its operation's name. A statement's span has its file's name.
const (
	spanUnmatched = "unmatched"   // a request that matches no operation
	spanUseCase   = "use_case "   // followed by the operation
	spanAttempt   = "attempt "    // followed by the name of the transaction or read
	spanJob       = "job "        // followed by the background job's name
	spanGroup     = "claim_group" // the transaction that serves a pool's queue, with all its attempts
)

// Carve's own span attributes, not from OpenTelemetry's conventions.
const (
	attrErrorCode    attribute.Key = "carve.error.code"
	attrClass        attribute.Key = "carve.class"
	attrPool         attribute.Key = "carve.pool"
	attrPrefixLength attribute.Key = "carve.prefix_length"
	attrOutcome      attribute.Key = "carve.outcome"
	attrAttempts     attribute.Key = "carve.tx.attempts"
	attrBatchSize    attribute.Key = "carve.batch.size"
	attrWaited       attribute.Key = "carve.batch.wait" // seconds
	attrTask         attribute.Key = "carve.job.task"
	attrDone         attribute.Key = "carve.job.done"
	attrOp           attribute.Key = "carve.tx.op"
	attrAttempt      attribute.Key = "carve.tx.attempt" // from 1
	attrEnd          attribute.Key = "carve.tx.end"
)

// Span attributes from OpenTelemetry's conventions.
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

// Keys for trace and span ids in log lines.
const (
	logTrace = "trace_id"
	logSpan  = "span_id"
)
