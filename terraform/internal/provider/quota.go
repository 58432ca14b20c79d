package provider

func quota() kind {
	limits := []field{
		{name: "addresses", check: isCount, same: sameCount, about: "Addresses, in decimal digits."},
		{name: "claims", form: number, check: between(0, 1<<53-1), about: "Claims."},
		{name: "pools", form: number, check: between(0, 1<<53-1), about: "Pools."},
	}
	return kind{
		name: "quota", about: "A quota bounds what a project holds.",
		path: "/v1/projects/{project}/quotas/{name}",
		fields: []field{
			projectField, nameField("quota"),
			{name: "scope", form: object, replace: true, about: "What counts; without it everything.", fields: []field{
				{name: "pool", at: "/spec/poolRef", ref: true, check: isRef, about: "Only claims on this pool and its children."},
				{name: "class", at: "/spec/classRef", ref: true, check: isRef, about: "Only claims that this class served."},
				{name: "ip_family", at: "/spec/ipFamily", oneOf: []string{"IPv4", "IPv6"}, about: "Only this family."},
			}},
			{name: "limits", form: object, required: true, about: "How much may be used, in one measure at least.", fields: limits},
			descriptionField, uidField,
			{name: "used", form: object, from: "/status/used", computed: true, dataOnly: true, about: "How much is used.", fields: limits},
			{name: "available", form: object, from: "/status/available", computed: true, dataOnly: true, about: "How much is left, where there is a limit.", fields: limits},
		},
	}
}
