package provider

func webhook() kind {
	return kind{
		name: "webhook",
		about: "A webhook has the server send the changes of a project to a URL. Its `secret` is in the state, as sensitive: keep the state where only few can read it. " +
			"The credential must be allowed to change webhooks, because others read the URL without its path.",
		path: "/v1/projects/{project}/webhooks/{name}", into: "/v1/projects/{project}/webhooks", marked: true, patched: true,
		fields: []field{
			projectField, nameField("webhook"),
			{name: "url", required: true, check: isURL, about: "The receiver: `https`, or `http` to a network that the operator of the server allows."},
			{
				name: "resource_kinds", form: textSet, check: all(oneOf(changeKinds...)),
				about: "Send only changes of these kinds: `IPPool`, `IPClaim`, `IPAllocation`, `IPClass`, `Quota`, `IPConsumer` or `Alert`. By default all are sent.",
			},
			{name: "resource_name", about: "Send only changes of objects with this name. An allocation is named by its UID, a consumer by `realm/uid`."},
			{name: "label_selector", about: "Send only changes of objects with such labels, such as `env=prod`."},
			{name: "paused", form: flag, def: false, about: "Whether the server sends nothing for now."},
			uidField,
			{
				name: "secret", from: "/secret", computed: true, secret: true,
				about: "The key that signs the messages, `whsec_` and base64. The server shows it only when it creates the webhook, so an imported webhook has none: " +
					"replace the webhook to have a new secret.",
			},
			{name: "state", from: "/status/state", computed: true, dataOnly: true, about: "`Delivering`, `Retrying`, `Paused` or `Stopped`."},
			{name: "reason", from: "/status/reason", computed: true, dataOnly: true, about: "The reason why the server has stopped it."},
			{name: "failures", form: number, from: "/status/failures", computed: true, dataOnly: true, about: "The number of attempts that have failed since the last success."},
			{name: "dead_letters", form: number, from: "/status/deadLetters", computed: true, dataOnly: true, about: "The number of messages that the server has given up."},
		},
	}
}

// changeKinds lists the kinds of objects whose changes a webhook can send.
var changeKinds = []string{"IPPool", "IPClaim", "IPAllocation", "IPClass", "Quota", "IPConsumer", "Alert"}
