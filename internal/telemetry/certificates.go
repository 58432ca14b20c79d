package telemetry

import (
	"time"

	"go.opentelemetry.io/otel/metric"
)

// Certificate is the state of one certificate file and its renewals, for the metrics.
type Certificate struct {
	Name    string // server or client_ca
	Expires time.Time
	Waiting bool  // the files have changed and are invalid, so the previous certificate is in use
	Taken   int64 // renewals since the start
	Failed  int64 // failed attempts to read the files
}

// WatchCertificates registers the metrics of certificates. Each scrape calls read. Call WatchCertificates once.
func (m *Metrics) WatchCertificates(read func() []Certificate) error {
	k := maker{meter: m.meter}
	expires, waiting, renewals := k.figure(ofExpiry), k.gauge(ofReloadFailed), k.count(ofReloads)
	return k.watch("the certificates", func(o metric.Observer) {
		for _, now := range read() {
			name := labelCertificate.String(now.Name)
			o.ObserveFloat64(expires, unix(now.Expires), metric.WithAttributes(name))
			o.ObserveInt64(waiting, oneIf(now.Waiting), metric.WithAttributes(name))
			o.ObserveInt64(renewals, now.Taken, metric.WithAttributes(name, labelOutcome.String(wentWell)))
			o.ObserveInt64(renewals, now.Failed, metric.WithAttributes(name, labelOutcome.String(failed)))
		}
	})
}

func oneIf(is bool) int64 {
	if is {
		return 1
	}
	return 0
}
