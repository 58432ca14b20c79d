package provider

func grant() kind {
	one := func(v values) []fault { return exactlyOne(v, "pool", "space") }
	shared := func(v values) string {
		if v["pool"] != nil {
			return "pool"
		}
		return "space"
	}
	return kind{
		name: "grant", about: "A grant lets another project, or all projects, use a pool or a space. A grant of a pool has an effect only if the pool is `shared`.",
		fields: []field{
			projectField,
			{name: "pool", key: true, check: isName, about: "Name of a pool in the project. Set either this or `space`."},
			{name: "space", key: true, check: isName, about: "Name of a space in the project. Set either this or `pool`."},
			{name: "consumer", key: true, required: true, check: isConsumer, about: "Name of the project that can use it, or `*` for every project."},
			uidField,
		},
		bodyless: true, invalid: one, choice: one,
		identify: func(v values) string {
			of := shared(v)
			return v.text("project") + "/" + of + "s/" + v.text(of) + "/" + v.text("consumer")
		},
		locate: func(v values) string {
			of := shared(v)
			return fill("/v1/projects/{project}/"+of+"s/{"+of+"}/grants/{consumer}", v)
		},
		parse: func(parts []string) values {
			if len(parts) != 4 || parts[1] != "pools" && parts[1] != "spaces" {
				return nil
			}
			return values{"project": parts[0], parts[1][:len(parts[1])-1]: parts[2], "consumer": parts[3]}
		},
	}
}
