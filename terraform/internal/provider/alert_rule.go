package provider

func alertRule() kind {
	return kind{
		name:  "alert_rule",
		about: "An alert rule has an alert begin for each pool or quota that is used to a percentage, or for each pool that will be full within a time.",
		path:  "/v1/projects/{project}/alert-rules/{name}", into: "/v1/projects/{project}/alert-rules", marked: true, patched: true,
		fields: []field{
			projectField, nameField("rule"),
			{name: "about", required: true, replace: true, oneOf: []string{"Pools", "Quotas"}, about: "The objects that the rule watches."},
			{name: "percent", form: number, check: between(1, 100), about: "The share of a pool or a limit, in percent, from which there is an alert; or else `runway`."},
			{
				name: "runway", check: isDuration, same: sameDuration,
				about: "There is an alert when a pool will be full within this time, such as `168h`; or else `percent`. It is for pools only, and `1h` at least.",
			},
			{name: "resource_name", check: isName, about: "Watch only the pool or the quota of this name."},
			{name: "class_name", check: isName, about: "Watch only pools that a class of this name may carve from. It is for pools only."},
			{name: "label_selector", about: "Watch only pools with such labels, such as `env=prod`. It is for pools only."},
			uidField,
			{name: "alerts", form: number, from: "/status/alerts", computed: true, dataOnly: true, about: "The number of alerts that the rule has now."},
		},
		invalid: func(v values) []fault {
			found := exactlyOne(v, "percent", "runway")
			if v["about"] != "Quotas" {
				return found
			}
			for _, name := range []string{"runway", "class_name", "label_selector"} {
				if v[name] != nil && known(v[name]) {
					found = append(found, fault{name, name + ` is for pools: remove it, or set about = "Pools".`})
				}
			}
			return found
		},
	}
}
