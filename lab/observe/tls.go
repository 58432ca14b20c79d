package observe

import (
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/carve-ipam/carve/internal/testkit/devca"
)

// door is the TLS configuration of the servers. The certificate is valid for months, and its CA is valid for a day. Clients need no certificate. If a
// client has one, the same CA must have signed it.
type door struct {
	cert, key, ca string // files
	client        *tls.Config
}

func newDoor(dir string) (*door, error) {
	ca, err := devca.New("observe")
	if err != nil {
		return nil, err
	}
	cert, key, err := ca.Issue(devca.Leaf{Name: "carve", Hosts: []string{"127.0.0.1"}, NotAfter: time.Now().Add(90 * 24 * time.Hour)})
	if err != nil {
		return nil, err
	}
	d := &door{
		cert: filepath.Join(dir, "tls.crt"), key: filepath.Join(dir, "tls.key"), ca: filepath.Join(dir, "ca.crt"),
		client: &tls.Config{RootCAs: ca.Pool(), MinVersion: tls.VersionTLS12},
	}
	for name, text := range map[string][]byte{d.cert: cert, d.key: key, d.ca: ca.PEM()} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// transport returns the HTTP transport of the callers.
func (d *door) transport(idle int) *http.Transport {
	return &http.Transport{TLSClientConfig: d.client, MaxIdleConnsPerHost: idle}
}

// flags returns the server flags for this configuration.
func (d *door) flags() []string {
	return []string{"--tls-cert=" + d.cert, "--tls-key=" + d.key, "--tls-client-ca=" + d.ca, "--tls-client-auth=optional"}
}
