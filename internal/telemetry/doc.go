// Package telemetry is what the service says about itself to its operators: metrics, measured with OpenTelemetry and read in
// Prometheus' text format. The packages that are measured declare what they tell and know nothing of OpenTelemetry;
// internal/app brings the two together.
//
// No label holds what a caller can make up: routes are templates, operations and codes are those of the contract, and the classes that
// are told apart are bounded. Pools are never named.
package telemetry
