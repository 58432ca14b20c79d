package app

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/telemetry"
)

// watchCertificates registers the metrics of certificates: their expiry and the results of their renewals. Reading the metrics checks the files, as a
// connection does, so that an invalid renewal becomes visible even without connections.
func (a *App) watchCertificates(f files) error {
	if f.certificate == nil {
		return nil
	}
	return a.metrics.WatchCertificates(func() []telemetry.Certificate {
		ctx := context.Background()
		shown, became := f.certificate.look(ctx)
		all := []telemetry.Certificate{certificateOf("server", shown.Leaf.NotAfter, became)}
		if f.clientCAs != nil {
			held, became := f.clientCAs.look(ctx)
			all = append(all, certificateOf("client_ca", held.expires, became))
		}
		return all
	})
}

// certificateOf converts a certificate's state for the metrics.
func certificateOf(name string, expires time.Time, r renewals) telemetry.Certificate {
	return telemetry.Certificate{Name: name, Expires: expires, Waiting: r.waiting, Taken: r.taken, Failed: r.failed}
}
