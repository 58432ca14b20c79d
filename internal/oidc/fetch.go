package oidc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

// source reads one issuer's keys.
type source struct {
	issuer string
	client *http.Client
}

func newSource(is Issuer, transport http.RoundTripper) (*source, error) {
	if transport == nil {
		t, err := newTransport(is.CAFile)
		if err != nil {
			return nil, err
		}
		transport = t
	}
	return &source{issuer: is.URL, client: &http.Client{
		Transport: limitedTransport{transport},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if !secure(r.URL) || len(via) > 3 {
				return errors.New("too many redirects, or a redirect to an untrusted address")
			}
			return nil
		},
	}}, nil
}

func newTransport(caFile string) (http.RoundTripper, error) {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		t = &http.Transport{Proxy: http.ProxyFromEnvironment}
	}
	t = t.Clone()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, err
		}
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s contains no certificate in PEM", caFile)
		}
	}
	return t, nil
}

// limitedTransport limits a response's size to maxDocuments.
type limitedTransport struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b limitedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(r)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, maxDocuments)
	}
	return response, err
}

// keys reads the URL for the issuer's keys and then the keys. It reads the URL each time, because the issuer may change it.
func (s *source) keys(ctx context.Context) ([]jose.JSONWebKey, error) {
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, s.client), s.issuer)
	if err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	var document struct {
		Keys string `json:"jwks_uri"`
	}
	if err := provider.Claims(&document); err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	u, err := url.Parse(document.Keys)
	if err != nil || !secure(u) {
		return nil, fmt.Errorf("discovery: jwks_uri %q is not an https URL", document.Keys)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, document.Keys, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Cache-Control", "no-cache")
	response, err := s.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return nil, fmt.Errorf("keys: %w", err)
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("keys: the issuer returned %s", response.Status)
	}
	return parseKeys(data)
}
