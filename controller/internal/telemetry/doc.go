// Package telemetry has the controller's logs, metrics and traces. Names and environment variables agree with the server's.
package telemetry

// scope is the tracer for all spans.
const scope = "github.com/carve-ipam/carve/controller"
