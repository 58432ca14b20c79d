package source

import (
	"slices"
	"strings"
)

// These are the known columns in NetBox' lists.
var (
	netboxPlaces = []string{"prefix", "aggregate", "address", "ip_address", "start_address", "end_address"}
	netboxTexts  = synonyms(`
		name
		dns_name
		status
		vrf vrf.rd vrf.id
		rd
		tenant
		role
		site scope
		scope_type
		rir
		vlan
		description
		is_pool pool
		id
		url
		tags
		comments
		children depth utilization size date_added created last_updated mark_utilized mark_populated enforce_unique
		tenant_group vlan_group assigned interface parent nat_inside nat_outside nat_(inside) nat_(outside)`)
)

const netboxExpected = "Prefix, Aggregate, IP Address, or Start address with End address, or for VRFs Name with RD, in English: " +
	"NetBox writes titles in the language of the user's preferences"

// table reads a table in the form that NetBox exports and imports.
func (n *netboxReading) table(f File) error {
	t, err := tableOf(f)
	if err != nil {
		return err
	}
	model := modelOf("", func(name string) bool { return t.has(name) })
	if model == "object" && t.ofVRFs() {
		model = modelVRF
	}
	if model == "object" || model == modelRange && !t.has("end_address") {
		return t.nowhere(netboxExpected)
	}
	n.out.listFile("a table of " + model)
	t.listed = true
	t.none = "—"
	return n.out.table(t, netboxPlaces, netboxTexts, func(r row) Record { return n.row(model, r) })
}

// ofVRFs reports whether a table lists VRFs. Such a table has names, and no columns except those for VRFs.
func (t *table) ofVRFs() bool {
	known := []string{"name", "rd", "tenant", "description", "enforce_unique", "tags", "comments", "id", "import_targets", "export_targets"}
	return t.has("name") && !slices.ContainsFunc(t.names, func(name string) bool { return !slices.Contains(known, name) })
}

// row returns the record for a row.
func (n *netboxReading) row(model string, r row) Record {
	out := r.record()
	out.Status = strings.ToLower(r.get("status"))
	known := out.netboxPlace(model, func(name string) string {
		switch name {
		case "address":
			return r.only(&out, "address", "ip_address")
		case "prefix":
			return r.only(&out, "prefix", "aggregate")
		}
		return r.get(name)
	})
	if !known {
		n.vrfs.add(vrf{id: r.get("id"), name: r.get("name"), rd: r.get("rd"), tenant: r.get("tenant")})
		return out
	}
	out.share(r.get("role"))
	if r.get("site") == "" {
		out.set("site", r.get("scope"))
	}
	switch m := displayed.FindStringSubmatch(r.get("vrf")); {
	case r.get("vrf.id") != "" || r.get("vrf.rd") != "":
	case m != nil:
		out.set("vrf", m[1])
		out.set("vrf.rd", m[2])
		n.vrfs.add(vrf{name: m[1], rd: m[2]})
	case r.get("vrf") == "Global": // NetBox' lists show Global if there is no VRF
		out.Fields.Set("vrf", "")
	}
	return out
}
