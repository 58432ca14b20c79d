// Package telemetry records metrics and traces with OpenTelemetry. It serves metrics in Prometheus' text format or sends them by OTLP, and exports
// traces. Other packages do not import OpenTelemetry. They declare small interfaces for the events that they report, and internal/app connects these
// interfaces to this package.
//
// No label contains text that a caller can choose freely. Routes are templates, operations and codes come from the contract, and labels name a
// limited number of classes and pools. No span contains text from a request or a statement. The usual libraries for echo and pgx write paths, SQL
// texts and error messages into spans, so this package makes the spans itself. All names are in names.go.
//
// Without an exporter for traces, other packages get a nil tracer. If a request is not sampled, Follows returns false, and its statements allocate
// nothing.
package telemetry
