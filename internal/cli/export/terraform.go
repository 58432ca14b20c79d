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

	"github.com/carve-ipam/carve/internal/cli/snapshot"
)

// hcl writes a configuration in Terraform's language.
type hcl struct {
	bytes.Buffer
	project string
	used    map[string]bool // addresses of the resources
}

// asTerraform returns a resource and an import block for each object. A resource follows the resources that it depends on.
func asTerraform(v *inventory) (files, error) {
	h := &hcl{project: v.project, used: map[string]bool{}}
	h.WriteString("terraform {\n  required_providers {\n    carve = { source = \"carve-ipam/carve\" }\n  }\n}\n\n")
	addresses := map[string]string{}
	h.variables(v.webhooks)
	for _, s := range v.spaces {
		if s.Metadata.Name == "default" {
			continue // every project has this space from the start
		}
		addresses["space/"+s.Metadata.Name] = h.named("carve_space", s.Metadata.Name,
			append([]attribute{{"description", text(s.Spec.Description)}}, tags(s.Metadata.Labels, s.Metadata.Annotations)...)...)
	}
	for _, c := range v.classes {
		spec, err := snapshot.Rest(c.Spec)
		if err != nil {
			return nil, err
		}
		list := append(attributes(spec, map[string]string{"provisioner": ""}), tags(c.Metadata.Labels, c.Metadata.Annotations)...)
		addresses["class/"+c.Metadata.Name] = h.named("carve_class", c.Metadata.Name, list...)
	}
	ref := func(kind, name string) string {
		if address, found := addresses[kind+"/"+name]; found {
			return address + ".name"
		}
		return text(name)
	}
	for _, p := range v.pools {
		var list []attribute
		if p.Status.ParentRef != nil {
			list = append(list, attribute{"parent", ref("pool", p.Status.ParentRef.Name)})
		} else {
			list = append(list, attribute{"space", ref("space", p.space)})
		}
		list = append(list, attribute{"cidr", text(p.Status.AllocatedCIDR)}, attribute{"description", text(p.Spec.Description)}, attribute{"drain", text(string(p.Spec.Drain))})
		var classes []string
		for _, name := range p.Spec.ClassNames {
			classes = append(classes, ref("class", name))
		}
		if classes != nil {
			list = append(list, attribute{"classes", "[" + strings.Join(classes, ", ") + "]"})
		}
		list = append(list, attributes(p.spec, map[string]string{"classNames": ""})...)
		list = append(list, tags(p.Metadata.Labels, p.Metadata.Annotations)...)
		addresses["pool/"+p.Metadata.Name] = h.named("carve_pool", p.Metadata.Name, list...)
	}
	for _, c := range v.claims {
		var list []attribute
		if c.byClass() {
			list = append(list, attribute{"class", ref("class", c.Status.ClassName)})
		} else {
			list = append(list, attribute{"pool", ref("pool", c.pool)})
		}
		list = append(list, attribute{"cidr", text(c.Status.AllocatedCIDR)})
		list = append(list, attributes(c.spec, map[string]string{"className": ""})...)
		list = append(list, tags(c.Metadata.Labels, c.Metadata.Annotations)...)
		addresses["claim/"+c.Metadata.Name] = h.named("carve_claim", c.Metadata.Name, list...)
	}
	for _, a := range v.attachments {
		h.resource("carve_consumer_attachment", a.claim+"-"+a.UID, []string{a.claim, a.Realm, a.UID},
			attribute{"claim", ref("claim", a.claim)}, attribute{"realm", text(a.Realm)}, attribute{"uid", text(a.UID)})
	}
	err := h.writeAuxiliary(v)
	return files{{"", h.Bytes()}}, err
}

// attribute is one line of a resource. If it has no value, it is omitted.
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

// named writes a resource of a kind with names.
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
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		value := text(m[key])
		if value == "" {
			value = `""`
		}
		pairs = append(pairs, text(key)+" = "+value)
	}
	if pairs == nil {
		return ""
	}
	return "{ " + strings.Join(pairs, ", ") + " }"
}

var capital = regexp.MustCompile(`[A-Z]+`)

// snake returns the name of a field in Terraform's spelling.
func snake(name string) string {
	return strings.ToLower(capital.ReplaceAllString(name, "_$0"))
}

// flat lists the objects of the contract whose members become attributes of the resource itself.
var flat = map[string]bool{"allocation": true, "allowedPrefixLengths": true}

// attributes returns the members of a spec as attributes. renamed has the members with another name in Terraform. The name "" omits the member.
func attributes(spec snapshot.Spec, renamed map[string]string) (list []attribute) {
	for _, name := range slices.Sorted(maps.Keys(spec)) {
		as, other := renamed[name]
		if !other {
			as = snake(name)
		}
		var value any
		if as == "" || json.Unmarshal(spec[name], &value) != nil {
			continue
		}
		if members, is := value.(map[string]any); is && flat[name] {
			for _, member := range slices.Sorted(maps.Keys(members)) {
				to := snake(member)
				if member == "min" || member == "max" {
					to += "_prefix_length"
				}
				list = append(list, attribute{to, valueOf(members[member], false)})
			}
			continue
		}
		list = append(list, attribute{as, valueOf(value, name == "parameters" || name == "scope")})
	}
	return list
}

// valueOf returns a value in Terraform's syntax. In a map, users choose the keys, so valueOf keeps them. In an object, it converts the names of
// members.
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
		for _, key := range slices.Sorted(maps.Keys(v)) {
			name := snake(key)
			if isMap {
				name = text(key)
			}
			pairs = append(pairs, name+" = "+valueOf(v[key], false))
		}
		return "{ " + strings.Join(pairs, ", ") + " }"
	default:
		return "null"
	}
}
