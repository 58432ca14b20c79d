// Package telemetry is what the controller says of itself: logs, metrics and traces, in the words and by the variables of the server's.
package telemetry

// scope is the tracer of all spans.
const scope = "github.com/carve-ipam/carve/controller"
