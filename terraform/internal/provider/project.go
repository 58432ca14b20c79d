package provider

func project() kind {
	return kind{
		name: "project", about: "A project is a tenant: it has spaces, pools, classes, claims and members of its own.",
		path: "/v1/projects/{name}", into: "/v1/projects", filters: []field{labelFilter}, marked: true, guarded: true, patched: true,
		fields: []field{
			nameField("project"),
			{name: "display_name", about: "What people call it."},
			descriptionField, uidField,
			{name: "phase", from: "/status/phase", computed: true, dataOnly: true, about: "`Active`, or `Terminating`."},
		},
	}
}
