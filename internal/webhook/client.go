package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const (
	longestDelivery = 10 * time.Second
	mostRead        = 4 << 10  // bytes of a response's body
	mostHeaders     = 16 << 10 // bytes
	mostKept        = 32       // idle connections for the next delivery, one for a receiver
	longestKept     = 30 * time.Second
)

// Delivery is one message to a receiver.
type Delivery struct {
	URL    string
	ID     string    // the same for every retry; without a dot, which the signature uses as a separator
	Secret string    // from Secret
	At     time.Time // time of this attempt: receivers refuse old messages
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

// NewClient returns a client that connects to the public Internet and the allowed networks.
func NewClient(allowed Networks) *Client {
	c := &Client{
		allowed: allowed,
		plain:   net.Dialer{Timeout: longestDelivery, Control: guardPlain(allowed).control},
		secure:  net.Dialer{Timeout: longestDelivery, Control: guardTLS(allowed).control},
		config:  &tls.Config{MinVersion: tls.VersionTLS12},
		limit:   longestDelivery,
	}
	c.http = http.Client{
		Transport: &http.Transport{ // no proxy: a proxy would connect to any requested address
			DialContext:            c.plain.DialContext,
			DialTLSContext:         c.dialTLS,
			DisableCompression:     true,
			MaxIdleConns:           mostKept,
			MaxIdleConnsPerHost:    1,
			IdleConnTimeout:        longestKept,
			MaxResponseHeaderBytes: mostHeaders,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// Send makes one attempt at a delivery, and waits at most 10 s for the response. It checks the URL again, because the operator may have changed the
// allowed networks.
func (c *Client) Send(ctx context.Context, d Delivery) Outcome {
	if CheckURL(d.URL, c.allowed) != nil {
		return Outcome{Reason: Unresolved}
	}
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	request, err := signed(ctx, d)
	if err != nil {
		return Outcome{Reason: Unreachable}
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return Outcome{Reason: reasonOf(err)}
	}
	defer answer.Body.Close()
	if answer.StatusCode >= http.StatusOK { // the body of a 101 is the connection itself, which no context ends
		_, _ = io.CopyN(io.Discard, answer.Body, mostRead) // lets the connection be reused; only the status matters
	}
	return outcomeOf(answer, d.At)
}

func signed(ctx context.Context, d Delivery) (*http.Request, error) {
	key, err := webhooks.NewWebhook(d.Secret)
	if err != nil {
		return nil, err
	}
	signature, err := key.Sign(d.ID, d.At, d.Body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, bytes.NewReader(d.Body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "carve-webhooks")
	request.Header.Set(webhooks.HeaderWebhookID, d.ID)
	request.Header.Set(webhooks.HeaderWebhookTimestamp, strconv.FormatInt(d.At.Unix(), 10))
	request.Header.Set(webhooks.HeaderWebhookSignature, signature)
	return request, nil
}

// untrusted marks the error of a failed TLS handshake.
type untrusted struct{ error }

// dialTLS has a timeout of its own: the transport may continue a dial after its request has ended.
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
		return nil, untrusted{err}
	}
	return secured, nil
}

func reasonOf(err error) string {
	if _, ok := errors.AsType[untrusted](err); ok {
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
