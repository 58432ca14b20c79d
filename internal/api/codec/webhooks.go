package codec

import (
	"cmp"
	"encoding/json"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// NewWebhook converts a POST body into a webhook.
func NewWebhook(_ string, b gen.WebhookCreate) (ipam.Webhook, error) {
	meta, wrongMeta := newMetadata(b.Metadata)
	spec, wrongSpec := webhookSpec(b.Spec)
	return ipam.Webhook{Metadata: meta, Spec: spec}, cmp.Or(wrongMeta, wrongSpec)
}

func webhookSpec(s gen.WebhookSpec) (spec ipam.WebhookSpec, err error) {
	spec = ipam.WebhookSpec{URL: s.URL, Name: s.ResourceName, LabelSelector: s.LabelSelector, Paused: ValueOr(s.Paused, false)}
	for _, kind := range s.ResourceKinds {
		spec.Kinds = append(spec.Kinds, string(kind))
	}
	spec.Labels, err = labelsAt("/spec/labelSelector", s.LabelSelector)
	return spec, err
}

// WebhookOf converts a webhook into its wire form, without the secret.
func WebhookOf(w ipam.Webhook) gen.Webhook {
	spec := gen.WebhookSpec{URL: w.Spec.URL, ResourceName: w.Spec.Name, LabelSelector: w.Spec.LabelSelector, Paused: &w.Spec.Paused}
	for _, kind := range w.Spec.Kinds {
		spec.ResourceKinds = append(spec.ResourceKinds, gen.ChangeKind(kind))
	}
	status := gen.WebhookStatus{
		State: gen.WebhookState(w.State()), Failures: w.Progress.Failures, LastError: sendErrorOf(w.Progress.Error),
		LastDeliveredAt: OptionalTime(w.Progress.DeliveredAt), DeadLetters: int(w.DeadLetters),
	}
	switch status.State {
	case gen.WebhookStateStopped:
		status.Reason = string(w.Stopped)
	case gen.WebhookStateRetrying:
		if w.Lease.IsZero() { // with a lease, an attempt is running now
			status.NextAttemptAt = OptionalTime(w.DueAt)
		}
	case gen.WebhookStateDelivering, gen.WebhookStatePaused:
	}
	return gen.Webhook{Metadata: metadataOf(w.Metadata), Spec: spec, Status: status}
}

func sendErrorOf(e *ipam.SendError) *gen.WebhookError {
	if e == nil {
		return nil
	}
	return &gen.WebhookError{Reason: e.Reason, StatusCode: e.Status, At: e.At}
}

// DeliveryOf converts a failed delivery into its wire form.
func DeliveryOf(d ipam.Delivery) gen.WebhookDelivery {
	out := gen.WebhookDelivery{ID: d.ID.String(), Attempts: d.Attempts, FirstAttemptAt: d.BeganAt, Retrying: d.Retry}
	if d.Error != nil {
		out.Error = *sendErrorOf(d.Error)
	}
	_ = json.Unmarshal(d.Message, &out.Message) // the server itself wrote this JSON
	return out
}

// PatchWebhook applies a JSON merge patch to a webhook.
func PatchWebhook(patch []byte) func(ipam.Webhook) (ipam.Webhook, error) {
	return func(was ipam.Webhook) (ipam.Webhook, error) {
		wire, err := applyPatch(WebhookOf(was), patch, writableText)
		if err != nil {
			return was, err
		}
		next := was
		next.Labels, next.Annotations = wire.Metadata.Labels, wire.Metadata.Annotations
		next.Spec, err = webhookSpec(wire.Spec)
		return next, err
	}
}
