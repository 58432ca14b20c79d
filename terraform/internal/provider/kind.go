package provider

import (
	"context"
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
	// path is an object's path, with its keys in braces. The keys have the same order as in the id.
	path string
	// If marked is true, the objects have labels and annotations. A POST to their collection creates them, and PATCH changes them. PUT creates and
	// changes all other objects.
	marked bool
	// put is true for a marked kind that has no POST, so PUT creates its objects.
	put bool
	// fixed is true if no request can change the objects.
	fixed bool
	// guarded is true if the resource has deletion_protection.
	guarded bool
	fields  []field
	// invalid returns a fault for each attribute that contradicts another one. It ignores values that are not known yet.
	invalid func(v values) []fault
	// incoherent returns a fault for each attribute that a new object cannot have together with another one.
	incoherent func(v values) []fault
	// identify, parse and locate replace the use of path for a kind whose objects have paths in several forms. identify makes the id, parse reads an
	// id (nil if it has another form), and locate makes the path.
	identify func(v values) string
	parse    func(parts []string) values
	locate   func(v values) string
	// gone reports whether the object has ended. The server may still return such an object.
	gone func(d document) bool
	// explained is true if the server can explain its refusal and propose remedies.
	explained bool
	// If bodyless or blank is true, the path has all values. The creation of a blank kind sends an empty JSON object.
	bodyless, blank bool
	// lookup reads an object if the API has no GET for a single object.
	lookup func(ctx context.Context, a *api, v values) (document, error)
	// maker returns the subject that made an object. It is set for a kind whose objects do not record their creator.
	maker func(ctx context.Context, a *api, v values) (string, error)
	// lockless is true for objects that change without a request. Their updates send no revision, because it would often be stale.
	lockless bool
	// scopes is the path to a list with pools. Before the object is deleted, the provider deletes the pools in this list that belong to a scope.
	scopes string
	// filters are the list's filters.
	filters []field
	// choice returns a list configuration's faults if it does not determine the list's path.
	choice func(v values) []fault
	// slot is a path for the default object: the one with is_default. The registry refuses two of them. A request that makes an object the default
	// ends this role for the present default.
	slot string
}

// fault is an attribute's fault.
type fault struct{ name, detail string }

var projectField = field{
	name: "project", key: true, computed: true, check: isName,
	about: "The object's project. By default the provider's.",
}

func nameField(what string) field {
	return field{name: "name", key: true, required: true, check: isName, about: "Name of the " + what + ", a DNS label."}
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

// These are the values for attributes that several kinds have.
var (
	families        = []string{"IPv4", "IPv6"}
	reclaimPolicies = []string{"Delete", "Retain"}
	roles           = []string{"viewer", "consumer", "provider", "admin"}
	strategies      = []string{"FirstFit", "BestFit", "Random", "Sparse"}
	visibilities    = []string{"consumer", "shared", "platform"}
)

func durationField(name, about string) field {
	return field{name: name, check: isDuration, same: sameDuration, about: about}
}

// reported returns an attribute that only data sources have, for a value in the object's status.
func reported(f form, name, about string, fields ...field) field {
	return field{name: name, form: f, from: "/status/" + camel(name), computed: true, dataOnly: true, about: about, fields: fields}
}

const defaultTimeout = 5 * time.Minute

// definition returns the first sentence of the description. The other sentences concern resources and not data sources.
func (k kind) definition() string {
	sentence, _, _ := strings.Cut(k.about, ". ")
	return strings.TrimSuffix(sentence, ".") + "."
}

// all returns the resource's attributes.
func (k kind) all() []field {
	fields := slices.DeleteFunc(k.shared(", the id for imports"), func(f field) bool { return f.dataOnly })
	if k.guarded {
		fields = append(fields, protectionField)
	}
	return append(fields, timeoutsField)
}

// data returns the data source's attributes. A data source never shows a secret.
func (k kind) data() []field {
	return slices.DeleteFunc(k.shared(""), func(f field) bool { return f.secret })
}

// shared returns the attributes that resources and data sources share. use describes the id.
func (k kind) shared(use string) []field {
	fields := append([]field{{name: "id", computed: true, at: "-", about: "`" + k.idForm() + "`" + use + "."}}, k.fields...)
	if !k.marked {
		return fields
	}
	return append(fields,
		field{name: "labels", form: textMap, at: "/metadata/labels", replace: k.fixed, about: "Labels. Keys and values follow the rules of Kubernetes."},
		field{
			name: "annotations", form: textMap, at: "/metadata/annotations", replace: k.fixed, check: isUnmarked,
			about: "Free texts. Keys follow the rules for label keys.",
		},
	)
}

var braces = regexp.MustCompile(`\{(\w+)\}`)

// keys returns the attributes that identify an object.
func (k kind) keys() []field {
	var keys []field
	for _, f := range k.fields {
		if f.key {
			keys = append(keys, f)
		}
	}
	return keys
}

func names(fields []field) []string { return each(fields, func(f field) string { return f.name }) }

// idForm returns the id's form for the documentation.
func (k kind) idForm() string {
	if k.name == "grant" {
		return "PROJECT/pools/POOL/CONSUMER` or `PROJECT/spaces/SPACE/CONSUMER"
	}
	return strings.ToUpper(strings.Join(names(k.keys()), "/"))
}

// at returns an object's path in the API.
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
	return strings.Join(each(names(k.keys()), v.text), "/")
}

// find parses an id. If the provider has a project, the id may omit the project.
func (k kind) find(id, project string) (values, error) {
	parts, keys, v := strings.Split(id, "/"), names(k.keys()), values{}
	if k.parse == nil && len(parts) == len(keys)-1 && keys[0] == "project" && project != "" {
		parts = append([]string{project}, parts...)
	}
	switch {
	case slices.Contains(parts, "") || k.parse == nil && len(parts) != len(keys):
		v = nil
	case k.parse != nil:
		v = k.parse(parts)
	default:
		for i, key := range keys {
			v[key] = parts[i]
		}
	}
	if v == nil {
		return nil, fmt.Errorf("%q is not an id of the form %s", id, strings.ReplaceAll(k.idForm(), "`", ""))
	}
	return v, nil
}

// body returns the request body that creates an object. It includes the provider's annotations.
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
	if k.posted() {
		d.set("/metadata/name", config.text("name"))
	}
	return d
}

// posted reports whether a POST to the collection creates an object.
func (k kind) posted() bool { return k.marked && !k.put }

// role returns the default's path, and the query with which a request makes the object the default. If the object is not the default, both are empty.
func (k kind) role(v values) (path, query string) {
	if is, _ := v["is_default"].(bool); is && k.slot != "" {
		return fill(k.slot, v), "?moveDefault=true"
	}
	return "", ""
}

// called returns an object's name for messages.
func (k kind) called(v values) string { return k.words() + " " + k.id(v) }

// desired returns the document with the configuration's values. It removes an attribute that is not in the configuration, unless the server sets
// that attribute.
func (k kind) desired(d document, config values) document {
	to := d.copy()
	for _, f := range k.all() {
		if f.local() || f.output() || f.replace || f.decided(config) || f.as(config[f.name], d, config.text("project")) {
			continue
		}
		v := f.toAPI(config[f.name])
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
	to := map[string]any{}
	maps.Copy(to, configured)
	for _, name := range marks {
		if was[name] != nil {
			to[name] = was[name]
		}
	}
	return orNil(to)
}

// orNil returns nil for an empty map.
func orNil(m map[string]any) any {
	if len(m) == 0 {
		return nil
	}
	return m
}

// state returns a document's values for the state. If a value has the same meaning as the planned or earlier value, state keeps the earlier
// spelling.
func (k kind) state(d document, prior values, fields []field) values {
	v := values{}
	for _, f := range fields {
		was := prior[f.name]
		if _, open := was.(unknown); open {
			was = nil
		}
		if f.local() {
			if was == nil && f.name == protectionField.name {
				was = false
			}
			v[f.name] = was
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
	return orNil(rest)
}

// family and length compute the allocated block's IP family and prefix length.
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
	if bits, is := blockLength(d.text("/status/allocatedCIDR")); is {
		return bits
	}
	return nil
}

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
