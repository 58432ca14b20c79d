package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"strings"
	"time"
)

// Option is a setting of [New].
type Option func(*settings) error

// settings are what the options set.
type settings struct {
	http      *http.Client
	header    http.Header
	token     func(context.Context) (string, error) // nil: no credential is sent
	retry     RetryPolicy
	timeout   time.Duration
	userAgent string
	insecure  bool
}

const (
	// defaultTimeout is the time of one call with all its repeats, where its context has no deadline of its own.
	defaultTimeout = time.Minute
	userAgent      = "carve-go/" + ContractVersion
	idlePerServer  = 64
)

// WithAPIKey sends an API key, carve_<id>_<secret>, with every request.
func WithAPIKey(key string) Option {
	return func(s *settings) error {
		key = strings.TrimSpace(key)
		if key == "" || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return errors.New("client: the API key is empty, or holds what no API key holds")
		}
		s.token = func(context.Context) (string, error) { return key, nil }
		return nil
	}
}

// WithTokenSource asks for the credential at every call: an API key that changes, or the JWT of an OpenID Connect issuer.
// The source keeps what it may keep; it is asked by many goroutines.
func WithTokenSource(source func(ctx context.Context) (string, error)) Option {
	return func(s *settings) error {
		if source == nil {
			return errors.New("client: the source of tokens is nil")
		}
		s.token = source
		return nil
	}
}

// WithHeader sends a header with every request that does not set it itself.
func WithHeader(name, value string) Option {
	return func(s *settings) error {
		s.header.Set(name, value)
		return nil
	}
}

// WithHTTP sends requests by an [http.Client] of yours: for certificates, proxies, tracing. It is copied. Unless it says
// otherwise, redirects are not followed: they would take the credential elsewhere, and make a GET of a POST.
func WithHTTP(h *http.Client) Option {
	return func(s *settings) error {
		if h == nil {
			return errors.New("client: the http.Client is nil")
		}
		own := *h
		if own.CheckRedirect == nil {
			own.CheckRedirect = stay
		}
		s.http = &own
		return nil
	}
}

// WithTimeout bounds a call with all its repeats. A context with an earlier deadline wins; 0 is no bound.
func WithTimeout(d time.Duration) Option {
	return func(s *settings) error {
		if d < 0 {
			return errors.New("client: the timeout is negative")
		}
		s.timeout = d
		return nil
	}
}

// WithRetry replaces [DefaultRetry]. RetryPolicy{Attempts: 1} repeats nothing.
func WithRetry(p RetryPolicy) Option {
	return func(s *settings) error {
		s.retry = p
		return p.check()
	}
}

// WithUserAgent names the program that calls, before this client: "deployer/1.4".
func WithUserAgent(program string) Option {
	return func(s *settings) error {
		s.userAgent = program + " " + userAgent
		return nil
	}
}

// WithInsecureHTTP allows plain http to another machine, where everybody on the way can read the credential.
func WithInsecureHTTP() Option {
	return func(s *settings) error {
		s.insecure = true
		return nil
	}
}

// newHTTPClient is how requests travel unless [WithHTTP] says otherwise: TLS 1.2 or newer, and as many idle connections as
// a busy program needs, where Go's default keeps two.
func newHTTPClient() *http.Client {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok { // somebody replaced it; its settings are theirs
		base = &http.Transport{Proxy: http.ProxyFromEnvironment}
	}
	transport := base.Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	transport.MaxIdleConnsPerHost = idlePerServer
	return &http.Client{Transport: transport, CheckRedirect: stay}
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
