package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kind describes a resource kind: its name, its paths in the API, and its attributes.
type kind struct {
	name  string
	about string
	// path is the path of an object, with its keys in braces. The keys have the same order as in the id.
	path string
	// into is the path of the POST that creates objects. If it is empty, a PUT at the object's path creates the object.
	into string
	// The objects of a marked kind have labels and annotations. Those of a guarded kind have deletion_protection. PATCH changes the objects of a
	// patched kind. PUT changes all other objects.
	marked, guarded, patched bool
	fields                   []field
	// invalid returns the faults of attributes that contradict each other. It ignores values that are not known yet.
	invalid func(v values) []fault
	// incoherent returns the faults of attributes that a new object cannot have together.
	incoherent func(v values) []fault
	// identify, parse and locate replace the use of path for a kind whose objects have several forms of path. identify makes the id, parse reads an
	// id, and locate makes the path.
	identify func(v values) string
	parse    func(parts []string) (values, error)
	locate   func(v values) string
	// gone reports whether the object has ended. The server may still return such an object.
	gone func(d document) bool
	// explained is true if the server can explain its refusal and propose remedies.
	explained bool
	// The objects of a bodyless kind have all their values in the path. The same is true for a blank kind, but its creation sends an empty JSON
	// object.
	bodyless, blank bool
	// lookup reads an object of a kind that has no GET for a single object.
	lookup func(ctx context.Context, a *api, v values) (document, error)
	// maker returns the subject that made an object. It is set for a kind whose objects do not record their creator.
	maker func(ctx context.Context, a *api, v values) (string, error)
	// lockless is true for objects that change without a request. Their updates send no revision, because it would often be stale.
	lockless bool
	// scopes is the path of a list of pools. Before the object is deleted, the provider deletes the pools in this list that belong to a scope.
	scopes string
	// query returns the query of the requests that create or change an object.
	query func(v values) string
	// filters are the filters of the kind's list.
	filters []field
	// choice returns the faults of a list configuration that does not determine the path of the list.
	choice func(v values) []fault
	// slot returns a path for a role that only one object can have, such as the default class. The registry then refuses two objects with that role.
	slot func(v values) string
}

// fault is a fault of an attribute.
type fault struct{ name, detail string }

var projectField = field{
	name: "project", key: true, replace: true, computed: true, at: "-", check: isName,
	about: "The object's project. By default the provider's.",
}

func nameField(what string) field {
	return field{name: "name", key: true, required: true, replace: true, at: "-", check: isName, about: "Name of the " + what + ", a DNS label."}
}

var (
	uidField         = field{name: "uid", from: "/metadata/uid", computed: true, about: "The object's unique identifier. A later object with the same name has another one."}
	descriptionField = field{name: "description", about: "Free text, at most 1,024 bytes."}
	protectionField  = field{
		name: "deletion_protection", form: flag, at: "-", def: false,
		about: "Whether Terraform refuses to destroy or replace the object. To destroy it, first set this to `false` and apply.",
	}
	timeoutsField = field{name: "timeouts", form: object, at: "-", about: "Time limits for operations, including retries; `5m` by default.", fields: []field{
		{name: "create", check: isDuration, about: "Time limit for creating the object."},
		{name: "read", check: isDuration, about: "Time limit for reading the object."},
		{name: "update", check: isDuration, about: "Time limit for changing the object."},
		{name: "delete", check: isDuration, about: "Time limit for deleting the object."},
	}}
)

const defaultTimeout = 5 * time.Minute

// all returns the resource's attributes.
func (k kind) all() []field {
	fields := []field{{name: "id", computed: true, at: "-", about: "`" + k.idForm() + "`, the id for imports."}}
	fields = append(fields, k.fields...)
	if k.marked {
		fields = append(fields, k.metadata()...)
	}
	if k.guarded {
		fields = append(fields, protectionField)
	}
	return append(slices.DeleteFunc(fields, func(f field) bool { return f.dataOnly }), timeoutsField)
}

// data returns the data source's attributes. A data source never shows a secret.
func (k kind) data() []field {
	fields := []field{{name: "id", computed: true, at: "-", about: "`" + k.idForm() + "`."}}
	fields = append(fields, k.fields...)
	if k.marked {
		fields = append(fields, k.metadata()...)
	}
	return slices.DeleteFunc(fields, func(f field) bool { return f.secret })
}

func (k kind) metadata() []field {
	fixed := !k.patched
	return []field{
		{name: "labels", form: textMap, at: "/metadata/labels", replace: fixed, about: "Labels. Keys and values follow the rules of Kubernetes."},
		{
			name: "annotations", form: textMap, at: "/metadata/annotations", replace: fixed, check: isUnmarked,
			about: "Free texts. Keys follow the rules for label keys.",
		},
	}
}

var braces = regexp.MustCompile(`\{(\w+)\}`)

// keys returns the names of the attributes that identify an object.
func (k kind) keys() []string {
	var names []string
	for _, f := range k.fields {
		if f.key {
			names = append(names, f.name)
		}
	}
	return names
}

// idForm returns the form of the id for the documentation.
func (k kind) idForm() string {
	if k.name == "grant" {
		return "PROJECT/pools/POOL/CONSUMER` or `PROJECT/spaces/SPACE/CONSUMER"
	}
	return strings.ToUpper(strings.Join(k.keys(), "/"))
}

// at returns the path of an object in the API.
func (k kind) at(v values) string {
	if k.locate != nil {
		return k.locate(v)
	}
	return fill(k.path, v)
}

func fill(template string, v values) string {
	return braces.ReplaceAllStringFunc(template, func(key string) string { return url.PathEscape(v.text(strings.Trim(key, "{}"))) })
}

// id returns the id that identifies an object in an import.
func (k kind) id(v values) string {
	if k.identify != nil {
		return k.identify(v)
	}
	var parts []string
	for _, key := range k.keys() {
		parts = append(parts, v.text(key))
	}
	return strings.Join(parts, "/")
}

// find parses an id. If the provider has a project, the id may omit the project.
func (k kind) find(id, project string) (values, error) {
	parts, keys := strings.Split(id, "/"), k.keys()
	if k.parse == nil && len(parts) == len(keys)-1 && keys[0] == "project" && project != "" {
		parts = append([]string{project}, parts...)
	}
	if slices.Contains(parts, "") {
		return nil, fmt.Errorf("%q is not an id of the form %s", id, k.idForm())
	}
	if k.parse != nil {
		return k.parse(parts)
	}
	if len(parts) != len(keys) {
		return nil, fmt.Errorf("%q is not an id of the form %s", id, k.idForm())
	}
	v := values{}
	for i, key := range keys {
		v[key] = parts[i]
	}
	return v, nil
}

// body returns the body of the request that creates an object. It includes the provider's annotations.
func (k kind) body(config values, marks map[string]any) document {
	switch {
	case k.bodyless:
		return nil
	case k.blank:
		return document{}
	}
	d := document{"spec": map[string]any{}}
	for _, f := range k.all() {
		v := config[f.name]
		if f.meaning(v, "") == nil || f.local() || f.later || f.output() || f.redundant != nil && f.redundant(config) {
			continue
		}
		d.set(f.pointer(), f.toAPI(v))
	}
	if k.marked && len(marks) > 0 {
		annotations, _ := d.get("/metadata/annotations").(map[string]any)
		all := maps.Clone(marks)
		maps.Copy(all, annotations)
		d.set("/metadata/annotations", all)
	}
	if k.into != "" {
		d.set("/metadata/name", config.text("name"))
	}
	return d
}

// parameters returns the query of the requests that create or change an object.
func (k kind) parameters(config values) string {
	if k.query == nil {
		return ""
	}
	return k.query(config)
}

// called returns the name of an object for messages.
func (k kind) called(v values) string { return k.words() + " " + k.id(v) }

// desired returns the document with the values of the configuration. It removes an attribute that is not in the configuration, unless the server sets
// that attribute.
func (k kind) desired(d document, config values) document {
	to := d.copy()
	for _, f := range k.all() {
		if f.local() || f.output() || f.replace || f.as(config[f.name], d, config.text("project")) {
			continue
		}
		v := f.toAPI(config[f.name])
		if config[f.name] == nil && f.optionalComputed() && f.def == nil {
			continue
		}
		if f.name == "annotations" {
			v = withMarks(v, d)
		}
		to.set(f.pointer(), v)
	}
	return to
}

// withMarks adds the provider's annotations to the annotations from the configuration.
func withMarks(v any, d document) any {
	configured, _ := v.(map[string]any)
	was, _ := d.get("/metadata/annotations").(map[string]any)
	to := maps.Clone(configured)
	for _, name := range marks {
		if was[name] == nil {
			continue
		}
		if to == nil {
			to = map[string]any{}
		}
		to[name] = was[name]
	}
	if to == nil {
		return nil
	}
	return to
}

// state returns the values of a document for the state. If a value has the same meaning as the planned or earlier value, state keeps the earlier
// spelling.
func (k kind) state(d document, prior values, fields []field) values {
	v := values{}
	for _, f := range fields {
		was := prior[f.name]
		if _, open := was.(unknown); open {
			was = nil
		}
		if f.key || f.local() {
			v[f.name] = was
			if was == nil && f.name == protectionField.name {
				v[f.name] = false
			}
			continue
		}
		is := f.found(d)
		if f.name == "annotations" {
			is = withoutMarks(is)
		}
		if is == nil && f.secret || was != nil && (f.equal(was, is, prior.text("project")) || f.as(was, d, prior.text("project"))) {
			is = was
		}
		v[f.name] = is
	}
	v["id"] = k.id(v)
	return v
}

// withoutMarks removes the provider's annotations, because the configuration does not contain them.
func withoutMarks(v any) any {
	all, _ := v.(map[string]any)
	rest := maps.Clone(all)
	for _, name := range marks {
		delete(rest, name)
	}
	if len(rest) == 0 {
		return nil
	}
	return rest
}

// family and length compute the IP family and the prefix length of the allocated block.
func family(d document) any {
	p, err := netip.ParsePrefix(d.text("/status/allocatedCIDR"))
	switch {
	case err != nil:
		return nil
	case p.Addr().Is4():
		return "IPv4"
	default:
		return "IPv6"
	}
}

func length(d document) any {
	p, err := netip.ParsePrefix(d.text("/status/allocatedCIDR"))
	if err != nil {
		return nil
	}
	return float64(p.Bits())
}

// atMostOne and exactlyOne are rules for attributes. An unknown value may still become null. It therefore counts neither as given nor as missing.
func atMostOne(v values, names ...string) []fault {
	var given []string
	for _, name := range names {
		if v[name] != nil && v[name] != (unknown{}) {
			given = append(given, name)
		}
	}
	if len(given) < 2 {
		return nil
	}
	return []fault{{given[1], fmt.Sprintf("At most one of %s can be set.", strings.Join(names, ", "))}}
}

func exactlyOne(v values, names ...string) []fault {
	for _, name := range names {
		if v[name] != nil {
			return atMostOne(v, names...)
		}
	}
	return []fault{{names[0], fmt.Sprintf("One of %s must be set.", strings.Join(names, ", "))}}
}

// lengthOf refuses a prefix_length that differs from the length of a block or an address.
func lengthOf(v values, name string) []fault {
	bits, is := blockLength(v.text(name))
	if n, given := v["prefix_length"].(int64); given && is && n != bits {
		return []fault{{"prefix_length", fmt.Sprintf("prefix_length is %d, but the prefix length of %s is %d: remove one of the two.", n, name, bits)}}
	}
	return nil
}

func blockLength(text string) (int64, bool) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return int64(p.Bits()), true
	}
	if a, err := netip.ParseAddr(text); err == nil {
		return int64(a.BitLen()), true
	}
	return 0, false
}

// isGiven returns a function that reports whether at least one of the attributes has a value.
func isGiven(names ...string) func(values) bool {
	return func(v values) bool {
		return slices.ContainsFunc(names, func(name string) bool { return v.text(name) != "" })
	}
}

var errNoProject = errors.New("no project: set `project` here or in the provider, or CARVE_PROJECT")

// decimal returns a function that returns the number at a JSON pointer as decimal text.
func decimal(pointer string) func(document) any {
	return func(d document) any {
		n, ok := d.get(pointer).(float64)
		if !ok {
			return nil
		}
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
}
