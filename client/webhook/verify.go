// Package webhook is for receivers of a project's webhooks: it verifies a request's signature and reads its message.
package webhook

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/carve-ipam/carve/client"
)

// DefaultTolerance is the usual bound on the difference between the request's time and the receiver's clock.
const DefaultTolerance = 5 * time.Minute

const shortestKey = 24 // bytes, as Standard Webhooks requires

var (
	// ErrUntrusted is the error for a request that lacks a header or that none of the secrets has signed.
	ErrUntrusted = errors.New("webhook: the request is not signed with any of the secrets")
	// ErrTime is the error for a request with a valid signature that was sent too long ago, or from a server with another clock.
	ErrTime = errors.New("webhook: the request was not sent within the tolerance")
)

// Delivery is a verified request.
type Delivery struct {
	ID      string    // the same in every retry, to detect duplicates
	SentAt  time.Time // this attempt's time, in whole seconds
	Message Message
}

// MessageType is a message's type.
type MessageType string

const (
	// Changes is the type for messages with changes.
	Changes MessageType = "changes"
	// Resync is the type for messages that report lost changes. The receiver must list the objects again and then apply the messages after this one.
	Resync MessageType = "resync"
)

// Message is a request's body. Respond to an unknown type with success: a later server may have more types.
type Message struct {
	Type    MessageType          `json:"type"`
	Webhook string               `json:"webhook"` // the webhook's name
	Project string               `json:"project"` // the project's name
	Changes []client.Change      `json:"changes"` // in order; none in a Resync
	Cursor  client.ChangesCursor `json:"cursor"`  // after the changes
}

// Verify reads a request that one of the secrets has signed. Pass several secrets while one webhook replaces another. The body must be the exact
// bytes received. A tolerance of 0 allows no difference in time; DefaultTolerance is usual.
func Verify(secrets []string, headers http.Header, body []byte, tolerance time.Duration) (*Delivery, error) {
	if err := verifySignature(secrets, headers, body); err != nil {
		return nil, err
	}
	seconds, err := strconv.ParseInt(headers.Get(webhooks.HeaderWebhookTimestamp), 10, 64)
	if err != nil {
		return nil, ErrUntrusted
	}
	d := Delivery{ID: headers.Get(webhooks.HeaderWebhookID), SentAt: time.Unix(seconds, 0).UTC()}
	if time.Since(d.SentAt).Abs() > tolerance {
		return nil, ErrTime
	}
	if err := json.Unmarshal(body, &d.Message); err != nil {
		return nil, fmt.Errorf("webhook: the body cannot be read: %w", err)
	}
	return &d, nil
}

// verifySignature tries every secret. An invalid secret is a configuration error, whatever the request is.
func verifySignature(secrets []string, headers http.Header, body []byte) error {
	keys := make([]*webhooks.Webhook, len(secrets))
	for i, secret := range secrets {
		bytes, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(bytes) < shortestKey {
			return fmt.Errorf("webhook: secret %d is malformed: use the secret exactly as the server returned it", i+1)
		}
		if keys[i], err = webhooks.NewWebhookRaw(bytes); err != nil {
			return err
		}
	}
	for _, key := range keys {
		if key.VerifyIgnoringTimestamp(body, headers) == nil {
			return nil
		}
	}
	return ErrUntrusted
}
