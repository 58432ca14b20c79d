package provider

func alertRule() kind {
	return kind{
		name:  "alert_rule",
		about: "An alert rule starts an alert for each pool or quota whose use reaches a percentage, or for each pool that will be full within a time.",
		path:  "/v1/projects/{project}/alert-rules/{name}", marked: true,
		fields: []field{
			projectField, nameField("rule"),
			{name: "about", required: true, replace: true, oneOf: []string{"Pools", "Quotas"}, about: "The kind of object that the rule watches."},
			{name: "percent", form: number, check: between(1, 100), about: "The threshold: the used share of a pool or a limit, in percent. Set either this or `runway`."},
			{
				name: "runway", check: isDuration, same: sameDuration,
				about: "The threshold: an alert starts when a pool will be full within this time, such as `168h`. At least `1h`, for pools only. Set either this or `percent`.",
			},
			{name: "resource_name", check: isName, about: "Watch only the pool or quota with this name."},
			{name: "class_name", check: isName, about: "Watch only pools from which a class with this name can carve. For pools only."},
			{name: "label_selector", about: "Watch only pools with matching labels, such as `env=prod`. For pools only."},
			uidField,
			reported(number, "alerts", "Number of the rule's current alerts."),
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
