package provider

func webhook() kind {
	return kind{
		name: "webhook",
		about: "A webhook sends the changes in a project to a URL. The state contains its `secret`, marked as sensitive: restrict access to the state. " +
			"The provider's credential needs permission to change webhooks; other credentials can read the URL only without its path.",
		path: "/v1/projects/{project}/webhooks/{name}", marked: true,
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
			reported(text, "state", "`Delivering`, `Retrying`, `Paused` or `Stopped`."),
			reported(text, "reason", "Reason why the server stopped the webhook."),
			reported(number, "failures", "Number of failed attempts since the last success."),
			reported(number, "dead_letters", "Number of messages that the server has given up."),
		},
	}
}

// changeKinds lists the object kinds whose changes a webhook can send.
var changeKinds = []string{"IPPool", "IPClaim", "IPAllocation", "IPClass", "Quota", "IPConsumer", "Alert"}
