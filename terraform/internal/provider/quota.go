package provider

func quota() kind {
	limits := []field{
		{name: "addresses", check: isCount, same: sameCount, about: "Number of addresses, in decimal digits."},
		{name: "claims", form: number, check: between(0, 1<<53-1), about: "Number of claims."},
		{name: "pools", form: number, check: between(0, 1<<53-1), about: "Number of pools."},
	}
	return kind{
		name: "quota", about: "A quota limits the addresses, claims and pools of a project.",
		path: "/v1/projects/{project}/quotas/{name}",
		fields: []field{
			projectField, nameField("quota"),
			{name: "scope", form: object, replace: true, about: "Objects that count towards the quota. By default all count.", fields: []field{
				{name: "pool", ref: true, about: "Only claims from this pool and its children."},
				{name: "class", ref: true, about: "Only claims that this class served."},
				{name: "ip_family", oneOf: families, about: "Only this family."},
			}},
			{name: "limits", form: object, required: true, about: "Limits. At least one is required.", fields: limits},
			descriptionField, uidField,
			reported(object, "used", "Current use.", limits...), reported(object, "available", "Remaining amount, for each limit.", limits...),
		},
	}
}
