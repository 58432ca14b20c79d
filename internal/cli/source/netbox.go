package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// These are NetBox' models that have addresses, and its model for VRFs.
const (
	modelAggregate = "ipam.aggregate"
	modelPrefix    = "ipam.prefix"
	modelAddress   = "ipam.ipaddress"
	modelRange     = "ipam.iprange"
	modelVRF       = "ipam.vrf"
)

// netboxEndpoints maps the API's lists to the models of their objects.
var netboxEndpoints = map[string]string{
	"vrfs": modelVRF, "aggregates": modelAggregate, "prefixes": modelPrefix, "ip-ranges": modelRange, "ip-addresses": modelAddress,
}

// netboxReferences maps each field that names another object to that object's model.
var netboxReferences = map[string]string{
	"tenant": "tenancy.tenant", "role": "ipam.role", "site": "dcim.site", "rir": "ipam.rir", "vlan": "ipam.vlan",
}

// sharedRoles lists the roles with which several interfaces may share an address in NetBox. Each interface then has its own row.
var sharedRoles = []string{"anycast", "vip", "vrrp", "hsrp", "glbp", "carp"}

// share marks a record whose address may also be in other rows.
func (r *Record) share(role string) {
	if role = strings.ToLower(role); r.Kind == Address && slices.Contains(sharedRoles, role) {
		r.ObjectKey = "an address that is shared"
	}
}

// netboxReading has the data that several files share.
type netboxReading struct {
	out    *Reading
	seen   map[string]int    // record indexes by ID
	names  map[string]string // object names by model and number
	dumped []dumpedRecord    // records from a dump, which refer to other objects by number
	vrfs   vrfs
	pages  []*netboxPage
	types  map[string]string   // a dump's content types, by number
	tags   map[string][]string // by tag number: the dump's objects that have it, by model and number
}

// dumpedRecord is a record from a database dump. Its scope is still a reference by number.
type dumpedRecord struct {
	at                 int
	scopeType, scopeID any
}

func newNetBoxReading(out *Reading) *netboxReading {
	out.fill("vrf", "vrf.rd", "vrf.id", "vrf.tenant", "tenant", "role", "site", "rir", "vlan", "description", "is_pool", "scope", "scope_type",
		"region", "sitegroup", "location")
	return &netboxReading{out: out, seen: map[string]int{}, names: map[string]string{}, types: map[string]string{}, tags: map[string][]string{}}
}

// readNetBox reads API responses, database dumps (`manage.py dumpdata`), and the CSV export of NetBox' lists.
func readNetBox(files []File, out *Reading) error {
	n := newNetBoxReading(out)
	for _, f := range files {
		read := n.documents
		if !f.isJSON() {
			read = n.table
		}
		if err := read(f); err != nil {
			return err
		}
	}
	if err := n.whole(); err != nil {
		return err
	}
	n.resolve()
	return nil
}

// object adds a record for an object from the API or a dump.
func (n *netboxReading) object(model string, members map[string]any) error {
	model = cmp.Or(model, plain(members["model"]))
	fields, isDump := members["fields"].(map[string]any)
	if isDump { // a dump
		fields["id"] = members["pk"]
		members = fields
	}
	if members["id"] == nil {
		isDump = isDump || members["pk"] != nil
		members["id"] = members["pk"]
	}
	if model == "" {
		model = modelOf(plain(members["url"]), func(name string) bool { _, found := members[name]; return found })
	}
	id := plain(members["id"])
	r := Record{ID: model + "/" + id, Status: strings.ToLower(plain(members["status"]))}
	known := r.netboxPlace(model, func(name string) string { return plain(members[name]) })
	if at, twice := n.seen[r.ID]; twice && id != "" {
		if is := n.out.Records.At(at); is.Where() != r.Where() {
			return fmt.Errorf("%s is %s in one row and %s in another: use files that one NetBox wrote at the same time", r.ID, is.Where(), r.Where())
		}
		return nil // two pages can contain the same row, if rows changed between the two requests
	}
	n.seen[r.ID] = n.out.Records.Len()
	if name := plain(members["name"]); isDump && name != "" {
		n.names[r.ID] = name
	}
	if known || model == modelVRF {
		n.out.list(model)
	}
	n.others(model, id, members)
	if known {
		if isDump {
			n.dumped = append(n.dumped, dumpedRecord{n.out.Records.Len(), members["scope_type"], members["scope_id"]})
		}
		n.describe(&r, members)
	}
	n.out.Records.add(r)
	return nil
}

// netboxPlace sets a record's kind and address. It returns false if the model has no address.
func (r *Record) netboxPlace(model string, member func(name string) string) bool {
	switch model {
	case modelAggregate:
		r.Kind = Aggregate
		r.network(member("prefix"))
	case modelPrefix:
		r.Kind = Prefix
		r.network(member("prefix"))
	case modelAddress:
		r.Kind, r.Name = Address, member("dns_name")
		r.host(member("address"))
	case modelRange:
		r.Kind = Range
		r.span(member("start_address"), member("end_address"))
	default:
		r.Kind, r.Name = Reference, member("name")
		r.set("model", model)
		return false
	}
	return true
}

// others stores data about other objects, which are VRFs, content types and tags.
func (n *netboxReading) others(model, id string, members map[string]any) {
	switch model {
	case modelVRF:
		n.vrfs.add(vrf{id: id, name: plain(members["name"]), rd: plain(members["rd"]), tenant: plain(members["tenant"])})
	case "contenttypes.contenttype":
		n.types[id] = plain(members["app_label"]) + "." + plain(members["model"])
	case "extras.taggeditem":
		n.tags[plain(members["tag"])] = append(n.tags[plain(members["tag"])], naturalKey(members["content_type"])+"/"+plain(members["object_id"]))
	}
}

func (n *netboxReading) describe(r *Record, members map[string]any) {
	for field := range netboxReferences {
		r.set(field, plain(members[field]))
	}
	switch of := members["vrf"].(type) {
	case map[string]any:
		r.set("vrf", plain(of["name"]))
		r.set("vrf.rd", plain(of["rd"]))
		r.set("vrf.id", plain(of["id"]))
		n.vrfs.add(vrf{id: plain(of["id"]), name: plain(of["name"]), rd: plain(of["rd"])})
	default:
		r.set("vrf.id", plain(of))
	}
	r.share(plain(members["role"]))
	r.set("description", plain(members["description"]))
	r.set("is_pool", plain(members["is_pool"]))
	if scope, is := members["scope"].(map[string]any); is { // NetBox 4.2 replaced the site with the scope
		r.scope(plain(members["scope_type"]), plain(scope))
	}
	tags, _ := members["tags"].([]any) // the list may be absent
	for _, tag := range tags {
		r.set("tag:"+plain(tag), "true")
	}
	for _, member := range []string{"custom_fields", "custom_field_data"} { // the API writes the first name, and a dump writes the second
		custom, _ := members[member].(map[string]any)
		for name, value := range custom {
			n.out.fill("cf:" + name)
			r.set("cf:"+name, plain(value))
		}
	}
}

// scope sets a prefix's scope, which is a site, a region, a site group or a location.
func (r *Record) scope(kind, name string) {
	r.set("scope", name)
	r.set("scope_type", kind)
	r.set(cmp.Or(kind[strings.Index(kind, ".")+1:], "site"), name) // a kind is a content type, such as dcim.site
}

// resolve replaces references in records with names.
func (n *netboxReading) resolve() {
	for _, d := range n.dumped {
		r := n.out.Records.At(d.at)
		for field, model := range netboxReferences {
			if name := n.names[model+"/"+r.Fields.Get(field)]; name != "" {
				r.Fields.Set(field, name)
			}
		}
		if kind := n.typeOf(d.scopeType); kind != "" && plain(d.scopeID) != "" {
			r.scope(kind, cmp.Or(n.names[kind+"/"+plain(d.scopeID)], plain(d.scopeID)))
		}
		n.out.Records.set(d.at, r)
	}
	for tag, items := range n.tags {
		tag = cmp.Or(n.names["extras.tag/"+tag], tag)
		for _, item := range items {
			kind, id, _ := strings.Cut(item, "/")
			if at, found := n.seen[n.typeOf(kind)+"/"+id]; found {
				r := n.out.Records.At(at)
				r.set("tag:"+tag, "true")
				n.out.Records.set(at, r)
			}
		}
	}
	n.untyped()
	for _, v := range n.vrfs.all {
		if len(n.dumped) > 0 {
			v.tenant = cmp.Or(n.names["tenancy.tenant/"+v.tenant], v.tenant)
		}
	}
	for at, r := range n.out.Records.All() {
		if r.Kind != Reference && n.vrfs.resolve(&r) {
			n.out.Records.set(at, r)
		}
	}
}

// typeOf returns a content type's name. The value is its natural key or its number.
func (n *netboxReading) typeOf(v any) string {
	text := naturalKey(v)
	if name, found := n.types[text]; found {
		return name
	}
	if strings.Contains(text, ".") {
		return text
	}
	return ""
}

// naturalKey returns a reference in a dump as text. For example, ["dcim", "site"] becomes dcim.site.
func naturalKey(v any) string {
	if list, is := v.([]any); is && len(list) == 2 {
		return plain(list[0]) + "." + plain(list[1])
	}
	return plain(v)
}

// untyped adds a note if a dump refers to content types by numbers that the dump does not explain.
func (n *netboxReading) untyped() {
	unknown := false
	for _, d := range n.dumped {
		unknown = unknown || plain(d.scopeID) != "" && n.typeOf(d.scopeType) == ""
	}
	for _, items := range n.tags {
		for _, item := range items {
			kind, _, _ := strings.Cut(item, "/")
			unknown = unknown || n.typeOf(kind) == ""
		}
	}
	if unknown {
		n.out.Notes = append(n.out.Notes, "the import ignores scopes and tags of the dump, because it names content types by number and has no contenttypes.contenttype; "+
			"write it with `manage.py dumpdata --natural-foreign`")
	}
}

// plain returns a JSON value as text. For an object it returns the object's name.
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
		parts := make([]string, len(v))
		for n, part := range v {
			parts[n] = plain(part)
		}
		return strings.Join(parts, ",")
	default:
		return fmt.Sprint(v)
	}
}

// modelOf recognizes an object's model by its URL or its members.
func modelOf(url string, has func(name string) bool) string {
	for endpoint, model := range netboxEndpoints {
		if strings.Contains(url, "/ipam/"+endpoint+"/") {
			return model
		}
	}
	switch {
	case url != "" && strings.Contains(url, "/api/"):
		return "object"
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
