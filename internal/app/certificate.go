package app

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"
)

// newCertificate reads the server's certificate from two watched files.
func newCertificate(certFile, keyFile string, log *slog.Logger, clock func() time.Time) (*watched[tls.Certificate], error) {
	load := func() (tls.Certificate, error) { return tls.LoadX509KeyPair(certFile, keyFile) }
	w, err := watch("the certificate of --tls-cert", []string{certFile, keyFile}, load, log, clock)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
	}
	return w, nil
}

// clientCAs are the CAs that must have signed a client's certificate.
type clientCAs struct {
	pool    *x509.CertPool
	expires time.Time // when the first CA expires
}

// newClientCAs reads the CAs from a watched file.
func newClientCAs(file string, log *slog.Logger, clock func() time.Time) (*watched[clientCAs], error) {
	load := func() (clientCAs, error) {
		text, err := os.ReadFile(file)
		if err != nil {
			return clientCAs{}, err
		}
		return parseCAs(text)
	}
	w, err := watch("the CAs of --tls-client-ca", []string{file}, load, log, clock)
	if err != nil {
		return nil, fmt.Errorf("--tls-client-ca: %w", err)
	}
	return w, nil
}

// parseCAs returns the certificates in a PEM text and their earliest expiry. It skips other blocks, as x509.CertPool does. It parses the text itself,
// because a CertPool does not list its certificates.
func parseCAs(text []byte) (clientCAs, error) {
	all := clientCAs{pool: x509.NewCertPool()}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" || len(block.Headers) > 0 {
			continue
		}
		ca, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			continue
		}
		all.pool.AddCert(ca)
		if all.expires.IsZero() || ca.NotAfter.Before(all.expires) {
			all.expires = ca.NotAfter
		}
	}
	if all.expires.IsZero() {
		return clientCAs{}, errors.New("it holds no certificates in PEM")
	}
	return all, nil
}

// tls returns the server's TLS configuration. Ciphers and curves are Go's defaults, which Go releases keep up to date. The operator chooses only the
// minimum version.
func (f files) tls(c Config) *tls.Config {
	base := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		c := f.certificate.get(hello.Context())
		return &c, nil
	}}
	if c.TLSMinVersion == "1.3" {
		base.MinVersion = tls.VersionTLS13
	}
	if f.clientCAs == nil {
		return base
	}
	base.ClientAuth = tls.RequireAndVerifyClientCert
	if c.TLSClientAuth == clientsOptional {
		base.ClientAuth = tls.VerifyClientCertIfGiven
	}
	// If a client resumes a session, it presents no certificate. Without session tickets, the server checks every connection's certificate against
	// the current CAs and the current time.
	base.SessionTicketsDisabled = true
	base.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		mine := base.Clone()
		mine.GetConfigForClient = nil
		mine.ClientCAs = f.clientCAs.get(hello.Context()).pool
		return mine, nil
	}
	return base
}
