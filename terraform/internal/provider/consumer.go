package provider

func consumer() kind {
	return kind{
		name:  "consumer",
		about: "A consumer is a user of claims, such as a machine. Destroying the resource ends the consumer, and its UID cannot be used again for 30 days.",
		path:  "/v1/projects/{project}/realms/{realm}/consumers/{uid}", lockless: true, filters: []field{phaseFilter("Live", "Ended")},
		fields: []field{
			projectField,
			{name: "realm", key: true, def: "default", check: isName, about: "The realm that defines the consumer's UID."},
			{name: "uid", key: true, required: true, check: isUID, about: "The consumer's identifier in its realm, such as a UUID."},
			{name: "kind", about: "The consumer's kind."},
			{name: "name", about: "The consumer's name."},
			{name: "ttl_seconds", form: number, check: between(10, 604800), about: "Time in seconds after which the consumer ends if it is not renewed. Terraform does not renew it: an agent must."},
			reported(text, "phase", "`Live` or `Ended`."),
		},
		gone: func(d document) bool { return d.text("/status/phase") == "Ended" },
	}
}
