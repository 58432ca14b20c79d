package provider

func space() kind {
	return kind{
		name: "space", about: "A space is a routing domain (VRF): nothing overlaps inside one. Each project has the space `default` from the beginning.",
		path: "/v1/projects/{project}/spaces/{name}", into: "/v1/projects/{project}/spaces", filters: []field{labelFilter}, marked: true, patched: true,
		fields: []field{projectField, nameField("space"), descriptionField, uidField},
	}
}
