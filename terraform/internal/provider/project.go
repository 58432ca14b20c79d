package provider

func project() kind {
	return kind{
		name: "project", about: "A project is a tenant with its own spaces, pools, classes, claims and members.",
		path: "/v1/projects/{name}", into: "/v1/projects", filters: []field{labelFilter}, marked: true, guarded: true, patched: true,
		fields: []field{
			nameField("project"),
			{name: "display_name", about: "Name for people to read."},
			descriptionField, uidField,
			{name: "phase", from: "/status/phase", computed: true, dataOnly: true, about: "`Active` or `Terminating`."},
		},
	}
}
