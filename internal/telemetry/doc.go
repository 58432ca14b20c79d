// Package telemetry is what the service says about itself to its operators: metrics, measured with OpenTelemetry and read in
// Prometheus' text format or sent by OTLP, and traces. The packages that are measured and followed declare what they tell and know nothing of
// OpenTelemetry; internal/app brings the two together.
//
// No label holds what a caller can make up: routes are templates, operations and codes are those of the contract, and the classes and pools that
// are told apart are bounded. No span holds what a request or a statement says. That is why the spans are made here and not by the libraries for
// echo and pgx: those write paths, texts of statements and messages of errors into them. All names are in names.go.
//
// Where traces go nowhere there are none: who would be followed has a nil interface to ask. Where a request is not sampled, Follows says so, and nothing
// is allocated for its statements.
package telemetry
