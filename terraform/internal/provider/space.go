package provider

func space() kind {
	return kind{
		name: "space", about: "A space is a routing domain (VRF). Root pools in one space do not overlap. Each new project has the space `default`.",
		path: "/v1/projects/{project}/spaces/{name}", filters: []field{labelFilter}, marked: true,
		fields: []field{projectField, nameField("space"), descriptionField, uidField},
	}
}
