package telemetry

import (
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/semconv/v1.43.0/dbconv"
	"go.opentelemetry.io/otel/semconv/v1.43.0/httpconv"
)

// This file contains the name of every metric, span and attribute, both our own and those from OpenTelemetry's conventions. docs/telemetry.md
// explains them, and a test compares the two.

// about is the name, unit and description of an instrument.
type about struct{ name, unit, text string }

// Instruments that events update.
var (
	ofClaims   = about{"carve.claims", "", "Claims that were asked for, by the class that served or refused them and by what came of it: bound, or the code of the refusal."}
	ofGroups   = about{"carve.group.size", "", "Claims and releases that one transaction of a pool served."}
	ofAttempts = about{"carve.tx.attempts", "", "Attempts at transactions and reads, by how they ended and the SQLSTATE of the failure."}
	ofRequests = about{httpconv.ServerRequestDuration{}.Name(), httpconv.ServerRequestDuration{}.Unit(), httpconv.ServerRequestDuration{}.Description()}
	ofLoans    = about{"carve.loans", "", "Moves of blocks of pools between regions that were tried, by direction and by what came of it."}
	ofEnded    = about{"carve.consumers.ended", "", "Consumers that ended, by why: Ended by a caller, or Expired."}
	ofHeld     = about{"carve.realms.held", "", "Times that many consumers of a realm had expired at once, so that none was ended until that was confirmed."}
	ofTried    = about{"carve.webhook.deliveries", "", "Tries to deliver something to webhooks, by what came of it."}
	ofGaveUp   = about{"carve.webhook.dead_letters", "", "Deliveries to webhooks that were given up."}
	ofRuns     = about{"carve.job.runs", "", "Runs of background jobs, by what came of it."}
	ofJobTimes = about{"carve.job.duration", "s", "How long runs of background jobs took."}
	ofExports  = about{"carve.telemetry.exports", "", "Batches of traces and metrics that were sent by OTLP, by what came of it."}
)

// Instruments that each scrape reads by callback.
var (
	ofBuild          = about{"carve.build.info", "", "1, with what this build is."}
	ofConnections    = about{dbconv.ClientConnectionCount{}.Name(), "", "Connections to the database, by state: used or idle."}
	ofMaxConnections = about{dbconv.ClientConnectionMax{}.Name(), "", "How many connections to the database there may be."}
	ofWaits          = about{"carve.db.waits", "", "How often somebody had to wait for a connection to the database."}
	ofWaited         = about{"carve.db.wait", "s", "How long everybody together had to wait for connections to the database."}
	ofInFlight       = about{"carve.requests.in_flight", "", "Requests that are worked on."}
	ofMaxInFlight    = about{"carve.requests.in_flight.max", "", "Requests that can be worked on at once; 0 without a bound."}
	ofAtTheDoor      = about{"carve.requests.waiting", "", "Requests that wait for a place among those that are worked on, or to be refused."}
	ofShed           = about{"carve.requests.shed", "", "Requests that were refused because there was too much to do, by what there was too much of."}
	ofClients        = about{"carve.client.connections", "", "Connections from clients that are open, by the listener that they came to."}
	ofMaxClients     = about{"carve.client.connections.max", "", "How many connections from clients there may be, by listener."}
	ofClosedClients  = about{"carve.client.connections.closed", "", "Connections from clients that were closed because there were too many: evicted to make room for another, or refused."}
	ofQueue          = about{"carve.queue.waiting", "", "Claims and releases that wait for their pool's turn."}
	ofOldest         = about{"carve.webhook.oldest", "s", "How long the delivery to a webhook of this region has been tried that has been for longest."}
	ofAlerts         = about{"carve.alerts", "", "Alerts that there are in this region, by what they are about."}
	ofAlertsLate     = about{"carve.alerts.late", "s", "How long the alert rule of this region is due for a look that is due for longest."}
	ofLongest        = about{"carve.queue.longest", "", "Claims and releases that wait for the same pool, the one for which most wait."}
	ofFollowers      = about{"carve.feed.followers", "", "Followers of the feed: they are told of changes, or wait for some."}
	ofFollowed       = about{"carve.feed.projects", "", "Projects that are followed."}
	ofExpiry         = about{"carve.certificate.expiry.timestamp", "s", "When the certificate that is shown expires, or the first of the CAs of clients, in seconds since 1970."}
	ofReloadFailed   = about{"carve.certificate.reload.failed", "", "1 while the files of a certificate hold what cannot be used, and what they held before is."}
	ofReloads        = about{"carve.certificate.reloads", "", "Times that the files of a certificate had changed and were read, by what came of it."}
	ofLastSuccess    = about{"carve.job.last_success.timestamp", "s", "When a background job last succeeded, in seconds since 1970; the start of the server until then."}
	ofInterval       = about{"carve.job.interval", "s", "How often a background job is run."}
	ofUtilization    = about{"carve.pool.utilization", "1", "Share of a pool's addresses that is not free in its home region, of the fullest pools."}
	ofRunway         = about{"carve.pool.runway", "s", "How long what is free in a pool lasts if it is used up as it was lately, of the fullest pools."}
	ofFullness       = about{"carve.pools", "", "Pools at home in this region, by how full they are."}
	ofPassEnd        = about{"carve.pools.pass.timestamp", "s", "When the last look at all pools ended, in seconds since 1970."}
	ofPassTime       = about{"carve.pools.pass.duration", "s", "How long the last look at all pools took."}
	ofFenced         = about{"carve.pools.fenced", "", "Pools that cannot be used in this region: their rows there are of another time than the record of their loans."}
	ofFencedPool     = about{"carve.pool.fenced", "", "1 for a pool that cannot be used in this region: its rows there are of another time than the record of its loans."}
	ofStock          = about{"carve.stock.free", "1", "What is free in this region of a pool at home elsewhere, as a part of the last loan, of the pools of which least is left."}
	ofStockRunway    = about{"carve.stock.runway", "s", "How long what is free in this region of a pool at home elsewhere lasts if it is used as fast as the last loans were."}
)

// Labels of metrics that are not from OpenTelemetry.
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
	labelTask        = attribute.Key("task") // of jobs; Prometheus uses the label job for its own targets
	labelSignal      = attribute.Key("signal")
	labelProject     = attribute.Key("project")
	labelPool        = attribute.Key("pool")
	labelRegion      = attribute.Key("region")
	labelFullness    = attribute.Key("fullness")
	labelVersion     = attribute.Key("version")
	labelCommit      = attribute.Key("commit")
	labelGo          = attribute.Key("go_version")
)

// Names of spans. A request's span has the name of its operation, and the span of a statement the name of the statement's file.
const (
	spanUnmatched = "unmatched"   // a request that matches no operation
	spanUseCase   = "use_case "   // followed by the operation
	spanAttempt   = "attempt "    // followed by the name of the transaction or read
	spanJob       = "job "        // followed by the name of the background job
	spanGroup     = "claim_group" // the transaction that serves a pool's queue, with all its attempts
)

// Attributes of spans that are not from OpenTelemetry.
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

// Keys of the trace's ids in log lines.
const (
	logTrace = "trace_id"
	logSpan  = "span_id"
)
