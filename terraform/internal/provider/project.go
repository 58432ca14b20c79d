package provider

func project() kind {
	return kind{
		name: "project", about: "A project is a tenant with its own spaces, pools, classes, claims and members.",
		path: "/v1/projects/{name}", filters: []field{labelFilter}, marked: true, guarded: true,
		fields: []field{
			nameField("project"),
			{name: "display_name", about: "Name for people to read."},
			descriptionField, uidField,
			reported(text, "phase", "`Active` or `Terminating`."),
		},
	}
}
