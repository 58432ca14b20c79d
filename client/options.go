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

// settings has the values that the options set.
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
	// defaultTimeout bounds one call with all its retries. An earlier deadline of its context still applies.
	defaultTimeout = time.Minute
	userAgent      = "carve-go/" + ContractVersion
	idlePerServer  = 64
)

// WithAPIKey sends an API key, carve_<id>_<secret>, with every request.
func WithAPIKey(key string) Option {
	return func(s *settings) error {
		key = strings.TrimSpace(key)
		if key == "" || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return errors.New("client: the API key is empty, or contains a space, a control character or a non-ASCII character")
		}
		s.token = func(context.Context) (string, error) { return key, nil }
		return nil
	}
}

// WithTokenSource gets the credential from a function at every call: an API key that changes, or the JWT of an OpenID Connect issuer. The function
// does its own caching and must be safe for concurrent use.
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

// WithHTTP sends requests with a copy of your [http.Client]: for certificates, proxies or tracing. Unless it has a CheckRedirect, redirects are not
// followed: a redirect would send the credential to another host and turn a POST into a GET.
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

// WithTimeout bounds a call with all its retries. An earlier deadline of the context wins. 0 means no bound.
func WithTimeout(d time.Duration) Option {
	return func(s *settings) error {
		if d < 0 {
			return errors.New("client: the timeout is negative")
		}
		s.timeout = d
		return nil
	}
}

// WithRetry replaces [DefaultRetry]. RetryPolicy{Attempts: 1} does not retry.
func WithRetry(p RetryPolicy) Option {
	return func(s *settings) error {
		s.retry = p
		return p.check()
	}
}

// WithUserAgent puts the calling program's name, such as "deployer/1.4", before this client's in User-Agent.
func WithUserAgent(program string) Option {
	return func(s *settings) error {
		s.userAgent = program + " " + userAgent
		return nil
	}
}

// WithInsecureHTTP allows plain http to another machine. The network can then read the credential.
func WithInsecureHTTP() Option {
	return func(s *settings) error {
		s.insecure = true
		return nil
	}
}

// newHTTPClient returns the HTTP client that is used without [WithHTTP]: TLS 1.2 or newer, and enough idle connections for a busy program (Go keeps
// two by default).
func newHTTPClient() *http.Client {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok { // the program replaced it with another type: start from a plain transport
		base = &http.Transport{Proxy: http.ProxyFromEnvironment}
	}
	transport := base.Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	transport.MaxIdleConnsPerHost = idlePerServer
	return &http.Client{Transport: transport, CheckRedirect: stay}
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
