package app

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/telemetry"
)

// watchCertificates registers metrics about certificates: their expiry and their renewals. Each read of the metrics checks the files in the same way
// as a connection. So the metrics show an invalid renewal even if no client connects.
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
