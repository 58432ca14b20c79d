// Package telemetry records metrics and traces with OpenTelemetry. It serves metrics in Prometheus' text format or sends them by OTLP, and exports
// traces. Other packages declare small interfaces for the events that they report and do not import OpenTelemetry; internal/app connects them to this
// package.
//
// No label contains text that a caller can invent: routes are templates, operations and codes come from the contract, and the number of classes and
// pools with labels is limited. No span contains text from a request or a statement. That is why this package makes the spans itself: the libraries
// for echo and pgx write paths, SQL texts and error messages into them. All names are in names.go.
//
// Without an exporter for traces, other packages get a nil tracer. For a request that is not sampled, Follows returns false, and its statements cause
// no allocations.
package telemetry
