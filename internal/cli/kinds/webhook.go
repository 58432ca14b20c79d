package kinds

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func webhookCommand(p *session.Program) *cobra.Command {
	k := webhooks(p)
	return k.Group(deliveryCommands(p, k.Complete())...)
}

func webhooks(p *session.Program) verbs.Kind {
	return verbs.Kind{
		P: p, In: "webhooks", Short: "Webhooks for changes, and their failed deliveries",
		View: show.ViewOf("webhook", `
			NAME: metadata.name
			URL: spec.url
			STATE: status.state
			REASON: reason
			DELIVERED: status.lastDeliveredAt, or never
			DEAD LETTERS: status.deadLetters
			ABOUT: about, wide
			NEXT TRY: status.nextAttemptAt, wide`+labelled, show.Cells[client.Webhook]{"reason": webhookReason, "about": webhookFilter}),
		Fields: append(verbs.Labels[:2:2], []verbs.Field{
			{Flag: "url", Usage: "target URL: https, or http to networks that the operator allows"},
			{
				Flag: "kind", Path: "spec.resourceKinds", Value: verbs.ListOf(true, nil, verbs.AnyTexts),
				Create: "only changes of this `KIND`, like IPClaim (repeatable)", Set: "only changes of this `KIND` (repeatable), or none for all kinds",
			},
			{Flag: "object", Path: "spec.resourceName", Usage: "only changes of objects with this `NAME`"},
			{Flag: "selector", Path: "spec.labelSelector", Usage: "only changes of objects with these labels, like env=prod"},
			{Flag: "paused", Usage: "send nothing for now; --paused=false resumes"},
		}...),
		ListHelp: "Lists the webhooks of the project, with the state of their deliveries. The server does not store secrets and cannot show them.",
		Get:      true,
		Create: &verbs.Writer{
			Use:   "create NAME --url URL",
			Short: "Create a webhook for changes, and print its secret once",
			Long: `Creates a webhook that sends all later changes to a URL. Only this command shows the secret that signs the requests.
--quiet prints only the secret; -o json and yaml have it in the document.`,
			Example:  `  ipamctl webhook create inventory --url https://inventory.example.com/carve --kind IPClaim`,
			Required: []string{"url"},
			Secret:   &verbs.Secret{Word: "secret", Remove: "delete"},
		},
		Set: &verbs.Writer{
			Use:   "set NAME [--url URL] [--paused] ...",
			Short: "Change the given fields of a webhook",
			Long:  `Changes the given fields only. Every change except of labels restarts a stopped webhook, and retries waiting deliveries at once.`,
			Example: `  ipamctl webhook set inventory --paused
  ipamctl webhook set inventory --url https://inventory.example.com/v2/carve --paused=false`,
		},
		Delete: &verbs.Removal{Many: verbs.ByAll, Long: "Deletes webhooks, with their failed deliveries."},
	}
}

// webhookReason returns the reason why a webhook is stopped. If there is no such reason, it returns the webhook's last error.
func webhookReason(w client.Webhook) string {
	if e := w.Status.LastError; e != nil && w.Status.Reason == "" {
		return sendErrorText(*e)
	}
	return w.Status.Reason
}

func webhookFilter(w client.Webhook) string {
	return show.FirstOf(show.Words(strings.Join(show.Texts(w.Spec.ResourceKinds), ","), w.Spec.ResourceName, w.Spec.LabelSelector), "everything")
}
