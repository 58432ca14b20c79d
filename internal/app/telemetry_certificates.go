package app

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/telemetry"
)

// watchCertificates tells when certificates expire, and whether renewals of their files were taken. Reading the metrics looks at the files as a connection
// does, so that a renewal that cannot be used is seen where nobody connects.
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

// certificateOf says it in the words of the metrics.
func certificateOf(name string, expires time.Time, r renewals) telemetry.Certificate {
	return telemetry.Certificate{Name: name, Expires: expires, Waiting: r.waiting, Taken: r.taken, Failed: r.failed}
}
