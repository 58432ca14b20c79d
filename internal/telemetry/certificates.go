package telemetry

import "time"

// Certificate is a certificate file's state with its renewals, for the metrics.
type Certificate struct {
	Name    string // server or client_ca
	Expires time.Time
	Waiting bool  // the files have changed and are invalid, so the previous certificate is in use
	Taken   int64 // renewals since the start
	Failed  int64 // failed attempts to read the files
}

// WatchCertificates registers metrics about certificates. Each scrape calls the function read. Call WatchCertificates once.
func (m *Metrics) WatchCertificates(read func() []Certificate) error {
	return m.watch("the certificates", func(s collection) {
		for _, now := range read() {
			name := labelCertificate.String(now.Name)
			put(s, ofExpiry, unix(now.Expires), name)
			put(s, ofReloadFailed, oneIf(now.Waiting), name)
			put(s, ofReloads, now.Taken, name, labelOutcome.String(wentWell))
			put(s, ofReloads, now.Failed, name, labelOutcome.String(failed))
		}
	}, ofExpiry, ofReloadFailed, ofReloads)
}

func oneIf(is bool) int64 {
	if is {
		return 1
	}
	return 0
}
