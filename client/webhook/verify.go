// Package webhook is for those who receive the webhooks of a project: it says whether a request is from the server, and what it tells.
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

// DefaultTolerance is how far the time of a request may usually be from the receiver's clock.
const DefaultTolerance = 5 * time.Minute

const shortestKey = 24 // bytes: what Standard Webhooks asks for

var (
	// ErrUntrusted is why a request is not believed: it lacks a header, or no secret made its signature.
	ErrUntrusted = errors.New("webhook: the request is not signed with any of the secrets")
	// ErrTime is why a request with a good signature is not believed: it was sent too long ago, or the clocks differ.
	ErrTime = errors.New("webhook: the request was not sent within the tolerance")
)

// Delivery is what a request has brought.
type Delivery struct {
	ID      string    // the same whenever the delivery is repeated: who has seen it has nothing to do
	SentAt  time.Time // of this attempt, to the second
	Message Message
}

// MessageType is what a message is.
type MessageType string

const (
	// Changes is the type of a message with changes.
	Changes MessageType = "changes"
	// Resync is the type of a message that says that changes are missing and will not come: list again, and go on with what is sent from then on.
	Resync MessageType = "resync"
)

// Message is the body of a request. Answer a type that you do not know with a success: a later server may have more.
type Message struct {
	Type    MessageType          `json:"type"`
	Webhook string               `json:"webhook"` // its name
	Project string               `json:"project"` // its name
	Changes []client.Change      `json:"changes"` // in their order; none in a Resync
	Cursor  client.ChangesCursor `json:"cursor"`  // behind the changes
}

// Verify reads a request that one of the secrets has signed. There are several while a webhook is replaced by another. Give the body as it came,
// byte for byte. A tolerance of 0 allows no difference; DefaultTolerance is usual.
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

// verifySignature tries every secret. A secret that is none is an error of whoever configured it, whatever was sent.
func verifySignature(secrets []string, headers http.Header, body []byte) error {
	keys := make([]*webhooks.Webhook, len(secrets))
	for i, secret := range secrets {
		bytes, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(bytes) < shortestKey {
			return fmt.Errorf("webhook: secret %d is not as the server answered it", i+1)
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
