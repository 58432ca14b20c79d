package provider

import "fmt"

func grant() kind {
	return kind{
		name: "grant", about: "A grant lets another project, or all, use a pool or a space. A pool has to be `shared` for it to count.",
		fields: []field{
			projectField,
			{name: "pool", key: true, at: "-", replace: true, check: isName, about: "Name of the pool, one of the project; or else `space`."},
			{name: "space", key: true, at: "-", replace: true, check: isName, about: "Name of the space, one of the project; or else `pool`."},
			{name: "consumer", key: true, required: true, at: "-", replace: true, check: isConsumer, about: "Name of the project that may use it, or `*` for every project."},
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
				return nil, fmt.Errorf("the id of a grant is PROJECT/pools/POOL/CONSUMER or PROJECT/spaces/SPACE/CONSUMER")
			}
			return values{"project": parts[0], parts[1][:len(parts[1])-1]: parts[2], "consumer": parts[3]}, nil
		},
	}
}
