package provider

func apiKey() kind {
	return kind{
		name:  "api_key",
		about: "An API key stands for one role in a project. Its `token` is in the state, as sensitive: keep the state where only few can read it, or use the ephemeral resource of this name.",
		path:  "/v1/projects/{project}/api-keys/{name}", into: "/v1/projects/{project}/api-keys", marked: true,
		fields: []field{
			projectField, nameField("key"),
			{name: "role", required: true, replace: true, oneOf: []string{"viewer", "consumer", "provider", "admin"}, about: "What it may do."},
			{name: "description", replace: true, about: descriptionField.about},
			{name: "expires_at", replace: true, check: isTime, same: sameTime, about: "From this moment on it is refused; it does not expire by default."},
			uidField,
			{name: "key_id", from: "/status/keyId", computed: true, about: "The part of it that is no secret."},
			{name: "token", from: "/token", computed: true, secret: true, about: "The key itself. It is unknown of a key that was imported."},
			{name: "phase", from: "/status/phase", computed: true, dataOnly: true, about: "Its phase."},
		},
	}
}
