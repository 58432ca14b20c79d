package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	calls = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "carve_controller_call_duration_seconds", Help: "Duration of calls to Carve, by method and outcome.", Buckets: prometheus.DefBuckets,
	}, []string{"method", "outcome"})
	renewed = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "carve_controller_consumers_renewed_total", Help: "Consumers that the controller renewed and that Carve knows.",
	})
	toBlock = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "carve_controller_pod_to_block_seconds",
		Help:    "Time from the creation of a pod until the status of its IPClaim has the block. Kubernetes gives creation times in whole seconds, so the value can be up to one second too high.",
		Buckets: []float64{.25, .5, 1, 1.5, 2, 3, 5, 10, 30, 60, 300},
	})
	built = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "carve_controller_build_info", Help: "1, with the build's version, commit and Go version as labels.",
	}, []string{"version", "commit", "go_version"})
)

func init() { metrics.Registry.MustRegister(calls, renewed, toBlock, built) }

// Renewed counts renewed consumers.
func Renewed(n int) { renewed.Add(float64(n)) }

// Bound records the time from a pod's creation to its block.
func Bound(created time.Time) { toBlock.Observe(max(0, time.Since(created).Seconds())) }

// Built records the build's version, commit and Go version.
func Built(version, commit, goVersion string) {
	built.WithLabelValues(version, commit, goVersion).Set(1)
}
