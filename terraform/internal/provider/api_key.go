package provider

func apiKey() kind {
	return kind{
		name:  "api_key",
		about: "An API key has one role in a project. The state contains its `token`, marked as sensitive: restrict access to the state, or use the ephemeral resource `carve_api_key`.",
		path:  "/v1/projects/{project}/api-keys/{name}", marked: true, fixed: true,
		fields: []field{
			projectField, nameField("key"),
			{name: "role", required: true, replace: true, oneOf: roles, about: "The key's permissions."},
			{name: "description", replace: true, about: descriptionField.about},
			{name: "expires_at", replace: true, check: isTime, same: sameTime, about: "Time at which the key expires. By default it does not expire."},
			uidField,
			{name: "key_id", from: "/status/keyId", computed: true, about: "The public part of the key."},
			{name: "token", from: "/token", computed: true, secret: true, about: "The key itself. An imported key has none, because the server shows a token only once."},
			reported(text, "phase", "The key's phase."),
		},
	}
}
