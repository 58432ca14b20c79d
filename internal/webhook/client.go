package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	longestDelivery = 10 * time.Second
	maxRead         = 4 << 10  // bytes that are read from a response's body
	maxHeaders      = 16 << 10 // bytes in a response's headers
	maxKept         = 32       // idle connections kept for the next delivery, at most one for each receiver
	longestKept     = 30 * time.Second
)

// Delivery is one message to a receiver.
type Delivery struct {
	URL    string
	ID     string    // the same for every retry; contains no dot, because the signature uses the dot as a separator
	Secret string    // from the function Secret
	At     time.Time // time for this attempt; receivers refuse messages that are too old
	Body   []byte    // JSON
}

// Client sends deliveries. It is safe for concurrent use.
type Client struct {
	allowed       Networks
	plain, secure net.Dialer
	config        *tls.Config
	limit         time.Duration
	http          http.Client
}

// NewClient returns a client that may connect to the public Internet and to the allowed networks.
func NewClient(allowed Networks) *Client {
	c := &Client{
		allowed: allowed,
		plain:   net.Dialer{Timeout: longestDelivery, Control: guardPlain(allowed).control},
		secure:  net.Dialer{Timeout: longestDelivery, Control: guardTLS(allowed).control},
		config:  &tls.Config{MinVersion: tls.VersionTLS12},
		limit:   longestDelivery,
	}
	c.http = http.Client{
		Transport: &http.Transport{ // without a proxy, because a proxy would connect to any address
			DialContext:            c.plain.DialContext,
			DialTLSContext:         c.dialTLS,
			DisableCompression:     true,
			MaxIdleConns:           maxKept,
			MaxIdleConnsPerHost:    1,
			IdleConnTimeout:        longestKept,
			MaxResponseHeaderBytes: maxHeaders,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// Send makes one attempt at a delivery, and waits at most 10 s for the response. It checks the URL, because the operator may have changed the allowed
// networks since the URL was stored.
func (c *Client) Send(ctx context.Context, d Delivery) Outcome {
	if CheckURL(d.URL, c.allowed) != nil {
		return Outcome{Reason: Unresolved}
	}
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	request, err := signedRequest(ctx, d)
	if err != nil {
		return Outcome{Reason: Unreachable}
	}
	response, err := c.http.Do(request)
	if err != nil {
		return Outcome{Reason: reasonOf(err)}
	}
	defer response.Body.Close()
	// A 101's body is the connection itself, and no context ends its Read.
	if response.StatusCode >= http.StatusOK {
		_, _ = io.CopyN(io.Discard, response.Body, maxRead) // only the status matters; the transport can reuse the connection after the body was read
	}
	return outcomeOf(response, d.At)
}

// handshakeError wraps a failed TLS handshake's error, so that reasonOf recognizes it.
type handshakeError struct{ error }

// dialTLS connects with TLS. It has its own timeout, because the transport may continue a dial after the request has ended.
func (c *Client) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, longestDelivery)
	defer cancel()
	connection, err := c.secure.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config := c.config.Clone()
	if config.ServerName, _, err = net.SplitHostPort(address); err != nil {
		return nil, err
	}
	secured := tls.Client(connection, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = connection.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, handshakeError{err}
	}
	return secured, nil
}

func reasonOf(err error) string {
	if _, ok := errors.AsType[handshakeError](err); ok {
		return TLS
	}
	if failed, ok := errors.AsType[net.Error](err); ok && failed.Timeout() || errors.Is(err, context.Canceled) {
		return Timeout
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok || errors.Is(err, errRefused) {
		return Unresolved
	}
	return Unreachable
}
