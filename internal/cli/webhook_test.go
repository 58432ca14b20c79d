package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

const letterID = "0195c2a4-7b10-7c3e-8f21-5d6e7f809112"

func TestWebhookSecretIsPrintedOnce(t *testing.T) {
	t.Parallel()
	d := answering(t, created(example(t, "WebhookCreated")))
	out := d.done("webhook", "create", "inventory", "--url", "https://inventory.example.com/carve", "--kind", "IPClaim,IPPool", "--paused", "-q")
	require.Equal(t, "whsec_ZXhhbXBsZXNlY3JldGV4YW1wbGVzZWNyZXRleGFtcGw=\n", out.out)
	require.JSONEq(t, `{"metadata":{"name":"inventory"},"spec":{"url":"https://inventory.example.com/carve","resourceKinds":["IPClaim","IPPool"],"paused":true}}`,
		string(d.requests()[0].body))
}

func TestWebhookVerbsSendTheirRequests(t *testing.T) {
	t.Parallel()
	const team = "/v1/projects/team-a/webhooks"
	for name, c := range map[string]struct {
		args   []string
		answer string
		want   string
	}{
		"List":       {[]string{"list"}, "WebhookList", "GET " + team + "?limit=500"},
		"Deliveries": {[]string{"deliveries", "inventory"}, "WebhookDeliveryList", "GET " + team + "/inventory/deliveries?limit=500"},
		"Retry":      {[]string{"retry", "inventory", letterID}, "WebhookDelivery", "POST " + team + "/inventory/deliveries/" + letterID + "/retries"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t, ok(example(t, c.answer)))
			d.done(append([]string{"webhook"}, c.args...)...)
			first := d.requests()[0]
			require.Equal(t, c.want, first.method+" "+first.uri)
		})
	}
}

func TestWebhookSetSendsAPatch(t *testing.T) {
	t.Parallel()
	d := answering(t, ok(example(t, "Webhook")))
	d.done("webhook", "set", "inventory", "--paused=false", "--selector", "env=prod")
	all := d.requests()
	require.Equal(t, "PATCH", all[len(all)-1].method)
	var patch map[string]any
	require.NoError(t, json.Unmarshal(all[len(all)-1].body, &patch))
	require.Equal(t, map[string]any{"paused": false, "labelSelector": "env=prod"}, patch["spec"])
}
