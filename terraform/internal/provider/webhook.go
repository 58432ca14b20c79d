package provider

func webhook() kind {
	return kind{
		name: "webhook",
		about: "A webhook sends the changes in a project to a URL. The state contains its `secret`, marked as sensitive: restrict access to the state. " +
			"The provider's credential needs permission to change webhooks; other credentials can read the URL only without its path.",
		path: "/v1/projects/{project}/webhooks/{name}", into: "/v1/projects/{project}/webhooks", marked: true, patched: true,
		fields: []field{
			projectField, nameField("webhook"),
			{name: "url", required: true, check: isURL, about: "The receiver's URL: `https`, or `http` to a network that the server's operator allows."},
			{
				name: "resource_kinds", form: textSet, check: all(oneOf(changeKinds...)),
				about: "Send only changes to objects of these kinds: `IPPool`, `IPClaim`, `IPAllocation`, `IPClass`, `Quota`, `IPConsumer` or `Alert`. By default all kinds.",
			},
			{name: "resource_name", about: "Send only changes to objects with this name: for an allocation its UID, for a consumer `realm/uid`."},
			{name: "label_selector", about: "Send only changes to objects with matching labels, such as `env=prod`."},
			{name: "paused", form: flag, def: false, about: "Whether sending is paused."},
			uidField,
			{
				name: "secret", from: "/secret", computed: true, secret: true,
				about: "The key that signs the messages: `whsec_` and base64. The server shows it only when it creates the webhook, so an imported webhook has none. " +
					"Replace the webhook to get a new secret.",
			},
			{name: "state", from: "/status/state", computed: true, dataOnly: true, about: "`Delivering`, `Retrying`, `Paused` or `Stopped`."},
			{name: "reason", from: "/status/reason", computed: true, dataOnly: true, about: "Reason why the server stopped the webhook."},
			{name: "failures", form: number, from: "/status/failures", computed: true, dataOnly: true, about: "Number of failed attempts since the last success."},
			{name: "dead_letters", form: number, from: "/status/deadLetters", computed: true, dataOnly: true, about: "Number of messages that the server has given up."},
		},
	}
}

// changeKinds lists the kinds of objects whose changes a webhook can send.
var changeKinds = []string{"IPPool", "IPClaim", "IPAllocation", "IPClass", "Quota", "IPConsumer", "Alert"}
