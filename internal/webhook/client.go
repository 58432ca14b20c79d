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
	mostRead        = 4 << 10  // bytes of an answer's body
	mostHeaders     = 16 << 10 // bytes
	mostKept        = 32       // connections that wait for the next delivery, one for a receiver
	longestKept     = 30 * time.Second
)

// Delivery is what is sent.
type Delivery struct {
	URL    string
	ID     string    // the same whenever it is repeated; without a dot, which the signature takes for the end
	Secret string    // of Secret
	At     time.Time // of this attempt: a receiver refuses what is old
	Body   []byte    // JSON
}

// Client sends deliveries. It is safe for any number of goroutines.
type Client struct {
	allowed       Networks
	plain, secure net.Dialer
	config        *tls.Config
	limit         time.Duration
	http          http.Client
}

// NewClient makes a client that reaches the public Internet and the networks that are allowed.
func NewClient(allowed Networks) *Client {
	c := &Client{
		allowed: allowed,
		plain:   net.Dialer{Timeout: longestDelivery, Control: guardPlain(allowed).control},
		secure:  net.Dialer{Timeout: longestDelivery, Control: guardTLS(allowed).control},
		config:  &tls.Config{MinVersion: tls.VersionTLS12},
		limit:   longestDelivery,
	}
	c.http = http.Client{
		Transport: &http.Transport{ // without a proxy: it would connect to whatever it is asked for
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

// Send sends a delivery once, and waits for the answer, 10 s at most. It looks at the URL again: what the operator allows may be another thing
// by now.
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
		_, _ = io.CopyN(io.Discard, answer.Body, mostRead) // so that the connection can be kept; the answer is its status
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

// untrusted is why a handshake failed.
type untrusted struct{ error }

// dialTLS bounds itself: a connection may be made for longer than the request lasts that it was begun for.
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
