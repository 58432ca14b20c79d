// Package telemetry has the controller's logs, metrics and traces. Names and environment variables are the same as in the server.
package telemetry

// scope is the name of the tracer for all spans.
const scope = "github.com/carve-ipam/carve/controller"
