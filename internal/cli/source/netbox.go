package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// object is one object of NetBox: of its API, of a dump of its database, or of a row of a table.
type object struct {
	id, model string
	members   map[string]any
}

// The models that are about addresses.
const (
	modelAggregate = "ipam.aggregate"
	modelPrefix    = "ipam.prefix"
	modelAddress   = "ipam.ipaddress"
	modelRange     = "ipam.iprange"
	modelVRF       = "ipam.vrf"
)

// NetBox reads what NetBox writes: answers of its API, dumps of its database (`manage.py dumpdata`), and the CSV of its lists.
func NetBox(files []File) ([]Record, error) {
	var all []object
	for _, f := range files {
		read := netboxJSON
		if text := bytes.TrimSpace(f.Text); len(text) > 0 && text[0] != '{' && text[0] != '[' {
			read = netboxCSV
		}
		objects, err := read(f)
		if err != nil {
			return nil, err
		}
		all = append(all, objects...)
	}
	return netboxRecords(all), nil
}

// netboxRecords makes records of objects. In a dump, objects name others by number.
func netboxRecords(all []object) []Record {
	byID := map[string]object{}
	for _, o := range all {
		byID[o.model+"/"+plain(o.members["id"])] = o
	}
	named := func(model string, v any) string {
		if o, found := byID[model+"/"+plain(v)]; found {
			return plain(o.members["name"])
		}
		return plain(v)
	}
	records := make([]Record, 0, len(all))
	for _, o := range all {
		r := Record{ID: o.id, Status: strings.ToLower(plain(o.members["status"]))}
		switch o.model {
		case modelAggregate:
			r.Kind = Aggregate
			r.network(plain(o.members["prefix"]))
		case modelPrefix:
			r.Kind = Prefix
			r.network(plain(o.members["prefix"]))
		case modelAddress:
			r.Kind, r.Name = Address, plain(o.members["dns_name"])
			r.host(plain(o.members["address"]))
		case modelRange:
			r.Kind = Range
			r.span(plain(o.members["start_address"]), plain(o.members["end_address"]))
		default:
			r.Kind, r.Name = Reference, plain(o.members["name"])
			r.set("model", o.model)
			records = append(records, r)
			continue
		}
		for field, model := range map[string]string{
			"vrf": modelVRF, "tenant": "tenancy.tenant", "role": "ipam.role", "site": "dcim.site", "rir": "ipam.rir", "vlan": "ipam.vlan",
		} {
			r.set(field, named(model, o.members[field]))
		}
		if r.Fields["vrf"] == "Global" { // as tables write that there is none
			delete(r.Fields, "vrf")
		}
		r.set("description", plain(o.members["description"]))
		r.set("is_pool", plain(o.members["is_pool"]))
		if scope, is := o.members["scope"].(map[string]any); is { // since NetBox 4.2 in the place of the site
			r.set("site", plain(scope))
		}
		if tags, is := o.members["tags"].([]any); is {
			for _, tag := range tags {
				r.set("tag:"+plain(tag), "true")
			}
		}
		if custom, is := o.members["custom_fields"].(map[string]any); is {
			for name, value := range custom {
				r.set("cf:"+name, plain(value))
			}
		}
		records = append(records, r)
	}
	return records
}

// plain is a value of JSON as a text: of an object what it is called.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case map[string]any:
		for _, name := range []string{"value", "name", "display", "label", "slug"} {
			if text, is := v[name].(string); is {
				return text
			}
		}
		return ""
	case []any:
		return ""
	default:
		return fmt.Sprint(v)
	}
}

// netboxJSON reads a page of the API, a list of objects, or a dump.
func netboxJSON(f File) ([]object, error) {
	var whole any
	d := json.NewDecoder(bytes.NewReader(f.Text))
	d.UseNumber()
	if err := d.Decode(&whole); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return netboxObjects(f.Name, whole)
}

// netboxObjects finds the objects in a document.
func netboxObjects(name string, whole any) ([]object, error) {
	list, is := whole.([]any)
	if doc, isMap := whole.(map[string]any); isMap {
		for _, member := range []string{"results", "records"} {
			if list, is = doc[member].([]any); is {
				break
			}
		}
		if !is { // several lists by the names of their endpoints: {"prefixes": [...], "ip-addresses": {"results": [...]}}
			return netboxLists(name, doc)
		}
	}
	if !is {
		return nil, fmt.Errorf("%s: it is no list of NetBox's objects", name)
	}
	objects := make([]object, 0, len(list))
	for i, item := range list {
		members, is := item.(map[string]any)
		if !is {
			return nil, fmt.Errorf("%s: item %d is no object", name, i+1)
		}
		objects = append(objects, netboxObject(members))
	}
	return objects, nil
}

func netboxLists(name string, doc map[string]any) (all []object, err error) {
	for _, endpoint := range slices.Sorted(maps.Keys(netboxEndpoints)) {
		model := netboxEndpoints[endpoint]
		if doc[endpoint] == nil {
			continue
		}
		objects, err := netboxObjects(name, doc[endpoint])
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			o.model = model
			o.id = model + "/" + plain(o.members["id"])
			all = append(all, o)
		}
	}
	if all == nil {
		return nil, fmt.Errorf("%s: it is no list of NetBox's objects", name)
	}
	return all, nil
}

// netboxObject knows what an object is.
func netboxObject(members map[string]any) object {
	model := plain(members["model"])
	if fields, is := members["fields"].(map[string]any); is { // as dumpdata writes it
		fields["id"] = members["pk"]
		members = fields
	}
	if members["id"] == nil {
		members["id"] = members["pk"]
	}
	if model == "" {
		model = modelOf(plain(members["url"]), func(name string) bool { _, found := members[name]; return found })
	}
	return object{id: model + "/" + plain(members["id"]), model: model, members: members}
}

// netboxEndpoints are the lists of the API that are read.
var netboxEndpoints = map[string]string{
	"vrfs": modelVRF, "aggregates": modelAggregate, "prefixes": modelPrefix, "ip-ranges": modelRange, "ip-addresses": modelAddress,
}

// modelOf knows an object by its URL, or by what it has.
func modelOf(url string, has func(name string) bool) string {
	for endpoint, model := range netboxEndpoints {
		if strings.Contains(url, "/ipam/"+endpoint+"/") {
			return model
		}
	}
	switch {
	case has("prefix") && has("rir"), has("aggregate"):
		return modelAggregate
	case has("prefix"):
		return modelPrefix
	case has("start_address"):
		return modelRange
	case has("address"), has("ip_address"):
		return modelAddress
	case has("rd"):
		return modelVRF
	default:
		return "object"
	}
}

// netboxCSV reads a table, as NetBox exports and imports it.
func netboxCSV(f File) ([]object, error) {
	rows, err := table(f)
	if err != nil {
		return nil, err
	}
	objects := make([]object, 0, len(rows))
	for _, r := range rows {
		o := object{id: at(f, r.line), model: modelOf("", r.has), members: map[string]any{}}
		for i, name := range r.names {
			if i < len(r.cells) && r.cells[i] != "" && r.cells[i] != "—" {
				o.members[name] = r.cells[i]
			}
		}
		if o.members["address"] == nil {
			o.members["address"] = o.members["ip_address"]
		}
		if o.members["prefix"] == nil {
			o.members["prefix"] = o.members["aggregate"]
		}
		delete(o.members, "tags") // a text there
		objects = append(objects, o)
	}
	return objects, nil
}
