package webhook

import (
	"bytes"
	"context"
	"net/http"
	"strconv"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// signedRequest returns the request for a delivery, with the signature that Standard Webhooks defines.
func signedRequest(ctx context.Context, d Delivery) (*http.Request, error) {
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
