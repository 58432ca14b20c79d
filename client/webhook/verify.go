// Package webhook is for programs that receive a project's webhooks. It verifies a request's signature and reads its message.
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

// DefaultTolerance is the usual limit for the difference between the request's time and the receiver's clock.
const DefaultTolerance = 5 * time.Minute

const shortestKey = 24 // bytes, as Standard Webhooks requires

var (
	// ErrUntrusted is the error for a request without the required headers, or without a signature by any of the secrets.
	ErrUntrusted = errors.New("webhook: the request is not signed with any of the secrets")
	// ErrTime is the error for a request with a valid signature, but with a time outside the tolerance. The request was delayed, or the clocks differ.
	ErrTime = errors.New("webhook: the request was not sent within the tolerance")
)

// Delivery is a verified request.
type Delivery struct {
	ID      string    // the same in every retry, so that a receiver can detect duplicates
	SentAt  time.Time // this attempt's time, in whole seconds
	Message Message
}

// MessageType is a message's type.
type MessageType string

const (
	// Changes is the type for messages with changes.
	Changes MessageType = "changes"
	// Resync is the type for messages that report lost changes. The receiver must list the objects again. It then applies the messages after this
	// one.
	Resync MessageType = "resync"
)

// Message is a request's body. If a receiver does not know the type, it should respond with success, because a later server may have more types.
type Message struct {
	Type    MessageType          `json:"type"`
	Webhook string               `json:"webhook"` // the webhook's name
	Project string               `json:"project"` // the project's name
	Changes []client.Change      `json:"changes"` // in order; a Resync has none
	Cursor  client.ChangesCursor `json:"cursor"`  // the position in the change feed after these changes
}

// Verify reads a request that one of the secrets has signed. While a new secret replaces the old one, pass both. The body must have the exact bytes
// of the request. A tolerance of 0 allows no difference in time. DefaultTolerance is the usual value.
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

// verifySignature tries every secret. If a secret is invalid, the receiver's configuration is wrong, and the function returns that error for every
// request.
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
