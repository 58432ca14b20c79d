package cli

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
)

// httpClient is how requests travel. With a file of certificates, servers are trusted by those alone. Redirects are not
// followed: they would take the credential elsewhere, and a POST with them becomes a GET.
func httpClient(caFile string) (*http.Client, error) {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok { // somebody replaced it; its settings are theirs
		base = &http.Transport{Proxy: http.ProxyFromEnvironment}
	}
	transport := base.Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		text, err := os.ReadFile(caFile)
		if err != nil {
			return nil, usagef("cannot read the CA's certificates: %v", err)
		}
		trusted := x509.NewCertPool()
		if !trusted.AppendCertsFromPEM(text) {
			return nil, usagef("%s holds no certificates in PEM", caFile)
		}
		transport.TLSClientConfig.RootCAs = trusted
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// showCertificate has a client show a certificate to servers that ask for one. The file is read for each connection: it may have been renewed.
func (p *program) showCertificate(c *http.Client) error {
	cert, key := firstOf(p.flags.clientCert, p.env("CARVE_CLIENT_CERT")), firstOf(p.flags.clientKey, p.env("CARVE_CLIENT_KEY"))
	if cert == "" && key == "" {
		return nil
	}
	if cert == "" || key == "" {
		return usagef("--client-cert and --client-key belong together")
	}
	load := func() (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(cert, key)
		return &pair, err
	}
	if _, err := load(); err != nil {
		return usagef("cannot use the client's certificate: %v", err)
	}
	if t, ok := c.Transport.(*http.Transport); ok {
		t.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() }
	}
	return nil
}
