package session

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// HTTPClient returns the client for requests. If there is a CA file, the client trusts only the authorities in that file. It does not follow
// redirects. A redirect could send the credential to another server, or turn a POST into a GET.
func HTTPClient(caFile string) (*http.Client, error) {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok { // other code has replaced the default transport
		base = &http.Transport{Proxy: http.ProxyFromEnvironment}
	}
	transport := base.Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		text, err := os.ReadFile(caFile)
		if err != nil {
			return nil, exit.Usagef("cannot read the CA's certificates: %v", err)
		}
		trusted := x509.NewCertPool()
		if !trusted.AppendCertsFromPEM(text) {
			return nil, exit.Usagef("%s contains no PEM certificates", caFile)
		}
		transport.TLSClientConfig.RootCAs = trusted
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// showCertificate makes a client present a certificate to a server that requests one. It reads the files for each connection, because the certificate
// may have been renewed.
func (p *Program) showCertificate(c *http.Client) error {
	cert, key := show.FirstOf(p.Flags.ClientCert, p.Env("CARVE_CLIENT_CERT")), show.FirstOf(p.Flags.ClientKey, p.Env("CARVE_CLIENT_KEY"))
	if cert == "" && key == "" {
		return nil
	}
	if cert == "" || key == "" {
		return exit.Usagef("--client-cert and --client-key must be given together")
	}
	load := func() (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(cert, key)
		return &pair, err
	}
	if _, err := load(); err != nil {
		return exit.Usagef("cannot use the client's certificate: %v", err)
	}
	if t, ok := c.Transport.(*http.Transport); ok {
		t.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() }
	}
	return nil
}
