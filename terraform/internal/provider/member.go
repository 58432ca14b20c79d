package provider

func member() kind {
	return kind{
		name: "member", about: "A member is an OpenID Connect subject with a role in a project.",
		path: "/v1/projects/{project}/members/{subject}",
		fields: []field{
			projectField,
			{name: "subject", key: true, required: true, check: isSubject, about: "The issuer's configured name, a colon, and the subject."},
			{name: "role", required: true, oneOf: roles, about: "The member's permissions."},
			uidField,
		},
	}
}
