package provider

func consumer() kind {
	return kind{
		name:  "consumer",
		about: "A consumer is what uses claims, such as a machine. Destroyed, it has ended, and its UID cannot be used again for 30 days.",
		path:  "/v1/projects/{project}/realms/{realm}/consumers/{uid}", lockless: true, filters: []field{phaseFilter("Live", "Ended")},
		fields: []field{
			projectField,
			{name: "realm", key: true, def: "default", replace: true, at: "-", check: isName, about: "The realm that knows its UID."},
			{name: "uid", key: true, required: true, replace: true, at: "-", check: isUID, about: "What it is known by in its realm, such as a UUID."},
			{name: "kind", about: "What it is."},
			{name: "name", at: "/spec/name", about: "What it is called."},
			{name: "ttl_seconds", form: number, check: between(10, 604800), about: "For how long it lives without being renewed. Terraform renews nothing: somebody else must."},
			{name: "phase", from: "/status/phase", computed: true, dataOnly: true, about: "`Live` or `Ended`."},
		},
		gone: func(d document) bool { return d.text("/status/phase") == "Ended" },
	}
}
