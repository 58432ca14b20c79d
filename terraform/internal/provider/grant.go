package provider

import "fmt"

func grant() kind {
	return kind{
		name: "grant", about: "A grant lets another project, or all projects, use a pool or a space. A grant of a pool has an effect only if the pool is `shared`.",
		fields: []field{
			projectField,
			{name: "pool", key: true, at: "-", replace: true, check: isName, about: "Name of a pool in the project. Set either this or `space`."},
			{name: "space", key: true, at: "-", replace: true, check: isName, about: "Name of a space in the project. Set either this or `pool`."},
			{name: "consumer", key: true, required: true, at: "-", replace: true, check: isConsumer, about: "Name of the project that can use it, or `*` for every project."},
			uidField,
		},
		bodyless: true,
		invalid:  func(v values) []fault { return exactlyOne(v, "pool", "space") },
		choice:   func(v values) []fault { return exactlyOne(v, "pool", "space") },
		identify: func(v values) string {
			if v["pool"] != nil {
				return v.text("project") + "/pools/" + v.text("pool") + "/" + v.text("consumer")
			}
			return v.text("project") + "/spaces/" + v.text("space") + "/" + v.text("consumer")
		},
		locate: func(v values) string {
			if v["pool"] != nil {
				return fill("/v1/projects/{project}/pools/{pool}/grants/{consumer}", v)
			}
			return fill("/v1/projects/{project}/spaces/{space}/grants/{consumer}", v)
		},
		parse: func(parts []string) (values, error) {
			if len(parts) != 4 || parts[1] != "pools" && parts[1] != "spaces" {
				return nil, fmt.Errorf("a grant's id has the form PROJECT/pools/POOL/CONSUMER or PROJECT/spaces/SPACE/CONSUMER")
			}
			return values{"project": parts[0], parts[1][:len(parts[1])-1]: parts[2], "consumer": parts[3]}, nil
		},
	}
}
