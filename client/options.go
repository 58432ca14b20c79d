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
	// defaultTimeout bounds one call with all its retries. If the context has an earlier deadline, that deadline applies.
	defaultTimeout = time.Minute
	userAgent      = "carve-go/" + ContractVersion
	idlePerServer  = 64
)

// WithAPIKey sends an API key with every request. The key has the form carve_<id>_<secret>.
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

// WithTokenSource calls a function for the credential of each request. The credential is an API key that changes, or a JWT of an OpenID Connect
// issuer. The function does its own caching and must be safe for concurrent use.
func WithTokenSource(source func(ctx context.Context) (string, error)) Option {
	return func(s *settings) error {
		if source == nil {
			return errors.New("client: the source of tokens is nil")
		}
		s.token = source
		return nil
	}
}

// WithHeader sends a header with every request. If a request sets the same header itself, the request's value applies.
func WithHeader(name, value string) Option {
	return func(s *settings) error {
		s.header.Set(name, value)
		return nil
	}
}

// WithHTTP sends requests with a copy of your [http.Client], for example for certificates, proxies or tracing. If your client has no CheckRedirect,
// Carve's client does not follow redirects. A redirect would send the credential to another host and turn a POST into a GET.
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

// WithTimeout bounds a call with all its retries. If the context has an earlier deadline, that deadline applies. 0 means no bound.
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

// WithUserAgent puts the calling program's name, such as "deployer/1.4", before the name of this client in User-Agent.
func WithUserAgent(program string) Option {
	return func(s *settings) error {
		s.userAgent = program + " " + userAgent
		return nil
	}
}

// WithInsecureHTTP allows plain http to another machine. Everybody on the network can then read the credential.
func WithInsecureHTTP() Option {
	return func(s *settings) error {
		s.insecure = true
		return nil
	}
}

// newHTTPClient returns the HTTP client for a [Carve] without [WithHTTP]. It uses TLS 1.2 or newer. It keeps enough idle connections for a busy
// program, because Go's default is only two.
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
