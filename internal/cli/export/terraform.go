package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// hcl writes a configuration in Terraform's language.
type hcl struct {
	bytes.Buffer
	project   string
	used      map[string]bool   // the addresses of written resources
	addresses map[string]string // by kind/name
}

// asTerraform returns a resource and an import block for each object. A resource follows the resources that it depends on.
func asTerraform(v *inventory) (files, error) {
	h := &hcl{project: v.project, used: map[string]bool{}, addresses: map[string]string{}}
	h.WriteString("terraform {\n  required_providers {\n    carve = { source = \"carve-ipam/carve\" }\n  }\n}\n\n")
	h.variables(v.webhooks)
	for _, s := range v.spaces {
		if s.name != "default" { // every project has this space from the start
			h.object(s, nil)
		}
	}
	for _, c := range v.classes {
		h.object(c, nil)
	}
	for _, p := range v.pools {
		position := attribute{"space", h.ref("space", p.space)}
		if p.parent != "" {
			position = attribute{"parent", h.ref("pool", p.parent)}
		}
		var classes []string
		for _, name := range p.Spec.ClassNames {
			classes = append(classes, h.ref("class", name))
		}
		more := []attribute{{"drain", text(string(p.Spec.Drain))}}
		if classes != nil {
			more = append(more, attribute{"classes", "[" + strings.Join(classes, ", ") + "]"})
		}
		h.object(p.object, more, position)
	}
	for _, c := range v.claims {
		source := attribute{"pool", h.ref("pool", c.parent)}
		if c.byClass() {
			source = attribute{"class", h.ref("class", c.Status.ClassName)}
		}
		h.object(c.object, nil, source)
	}
	for _, a := range v.attachments {
		h.resource("carve_consumer_attachment", a.claim+"-"+a.UID, []string{a.claim, a.Realm, a.UID},
			attribute{"claim", h.ref("claim", a.claim)}, attribute{"realm", text(a.Realm)}, attribute{"uid", text(a.UID)})
	}
	err := h.writeAuxiliary(v)
	return files{{"", h.Bytes()}}, err
}

// object writes a space, a class, a pool or a claim. The parameter position has its first attributes, and more has the attributes after the
// description.
func (h *hcl) object(o object, more []attribute, position ...attribute) {
	about := []attribute{{"cidr", text(o.cidr)}, {"description", text(o.description)}}
	list := slices.Concat(position, about, more, attributes(o.spec, "provisioner", "classNames", "className"), tags(o.labels, o.annotations))
	h.addresses[o.kind+"/"+o.name] = h.named("carve_"+o.kind, o.name, list...)
}

// ref returns a reference to an object's resource. If there is no resource, it returns the object's name.
func (h *hcl) ref(kind, name string) string {
	if address, found := h.addresses[kind+"/"+name]; found {
		return address + ".name"
	}
	return text(name)
}

// attribute is one line in a resource. resource omits an attribute without a value.
type attribute struct{ name, value string }

// marks lists the annotations that the provider writes itself. The provider refuses them in a configuration.
var marks = []string{"terraform/made-by", "terraform/holder"}

// tags returns the attributes that every resource has.
func tags(labels, annotations map[string]string) []attribute {
	annotations = maps.Clone(annotations)
	for _, mark := range marks {
		delete(annotations, mark)
	}
	return []attribute{{"labels", mapOf(labels)}, {"annotations", mapOf(annotations)}}
}

func (h *hcl) named(kind, name string, list ...attribute) string {
	return h.resource(kind, name, []string{name}, append([]attribute{{"name", text(name)}}, list...)...)
}

// other matches the characters that a Terraform name cannot have.
var other = regexp.MustCompile(`[^A-Za-z0-9_]`)

// resource writes a resource with its import block, and returns its address. keys are its id in the project.
func (h *hcl) resource(kind, name string, keys []string, list ...attribute) string {
	name = other.ReplaceAllString(name, "_")
	if !unicode.IsLetter(rune(name[0])) {
		name = "_" + name
	}
	local := name
	for n := 2; h.used[kind+"."+local]; n++ {
		local = name + "__" + strconv.Itoa(n)
	}
	h.used[kind+"."+local] = true
	list = append([]attribute{{"project", text(h.project)}}, list...)
	list = slices.DeleteFunc(list, func(a attribute) bool { return a.value == "" })
	wide := 0
	for _, a := range list {
		wide = max(wide, len(a.name))
	}
	id := text(h.project + "/" + strings.Join(keys, "/"))
	_, _ = fmt.Fprintf(h, "import {\n  to = %s.%s\n  id = %s\n}\n\nresource %q %q {\n", kind, local, id, kind, local) // into memory
	for _, a := range list {
		_, _ = fmt.Fprintf(h, "  %-*s = %s\n", wide, a.name, a.value)
	}
	h.WriteString("}\n\n")
	return kind + "." + local
}

// text returns a quoted Terraform string. For an empty text it returns "", without quotation marks.
func text(s string) string {
	if s == "" {
		return ""
	}
	quoted, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(string(quoted))
}

func mapOf(m map[string]string) string {
	if len(m) == 0 {
		return ""
	}
	values := map[string]any{}
	for key, value := range m {
		values[key] = value
	}
	return valueOf(values, true)
}

var capital = regexp.MustCompile(`[A-Z]+`)

// snake returns a field's name in Terraform's spelling.
func snake(name string) string {
	return strings.ToLower(capital.ReplaceAllString(name, "_$0"))
}

// flat lists the contract's objects whose members become attributes on the resource itself.
var flat = map[string]bool{"allocation": true, "allowedPrefixLengths": true}

// attributes returns a spec's members as attributes, except the members in the list but.
func attributes(spec converge.Spec, but ...string) (list []attribute) {
	for name, doc := range show.Sorted(spec) {
		var value any
		if slices.Contains(but, name) || json.Unmarshal(doc, &value) != nil {
			continue
		}
		if members, is := value.(map[string]any); is && flat[name] {
			for member, value := range show.Sorted(members) {
				to := snake(member)
				if member == "min" || member == "max" {
					to += "_prefix_length"
				}
				list = append(list, attribute{to, valueOf(value, false)})
			}
			continue
		}
		list = append(list, attribute{snake(name), valueOf(value, name == "parameters" || name == "scope")})
	}
	return list
}

// valueOf returns a value in Terraform's syntax. In a map, users choose the keys, so valueOf keeps them. In an object, it converts the members'
// names.
func valueOf(v any, isMap bool) string {
	switch v := v.(type) {
	case string:
		if v == "" {
			return `""`
		}
		return text(v)
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, valueOf(item, false))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]any:
		var pairs []string
		for key, value := range show.Sorted(v) {
			name := snake(key)
			if isMap {
				name = text(key)
			}
			pairs = append(pairs, name+" = "+valueOf(value, false))
		}
		return "{ " + strings.Join(pairs, ", ") + " }"
	default:
		return "null"
	}
}
