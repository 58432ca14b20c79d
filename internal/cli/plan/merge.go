package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// apply writes this label and this annotation to each object that a named plan creates. The label has the plan's name, and --prune finds the objects
// by it. The annotation lists the fields that the plan set in its last run. If the new plan no longer has a field, apply resets the field to its
// default.
const (
	labelOfPlan      = "ipamctl.carve/plan"
	annotationFields = "ipamctl.carve/applied-fields"
)

// longestAnnotation is the contract's maximum for an annotation's value, in bytes.
const longestAnnotation = 4096

// changeable returns a document's fields that can be changed: the labels, the annotations, and the spec without its fixed fields.
func changeable(kind string, doc object) object {
	metadata, spec := member(doc, "metadata"), maps.Clone(member(doc, "spec"))
	meta := object{}
	for _, name := range fixed[kind] {
		delete(spec, name)
	}
	for _, name := range []string{"labels", "annotations"} {
		if m, is := metadata[name].(object); is {
			meta[name] = m
		}
	}
	return object{"metadata": meta, "spec": spec}
}

// member returns the object in a document's member. If there is none, it returns an empty object.
func member(doc object, name string) object {
	o, _ := doc[name].(object)
	if o == nil {
		o = object{}
	}
	return o
}

// recordPlan adds the plan's label to a new document. It also adds the annotation with the plan's fields.
func recordPlan(kind string, doc object, owner string) {
	paths := leaves(nil, "", changeable(kind, doc))
	metadata := member(doc, "metadata")
	labels := member(metadata, "labels")
	labels[labelOfPlan] = owner
	metadata["labels"], doc["metadata"] = labels, metadata
	text, err := show.Marshal(paths)
	if err != nil || len(paths) == 0 || len(text) > longestAnnotation {
		return
	}
	annotations := member(metadata, "annotations")
	annotations[annotationFields] = string(text)
	metadata["annotations"] = annotations
}

// escape and unescape convert a member's name to a token of a JSON pointer and back.
var escape, unescape = strings.NewReplacer("~", "~0", "/", "~1"), strings.NewReplacer("~1", "/", "~0", "~")

// leaves appends the JSON pointers of all values in an object.
func leaves(to []string, at string, o object) []string {
	for name, value := range show.Sorted(o) {
		here := at + "/" + escape.Replace(name)
		if below, is := value.(object); is {
			to = leaves(to, here, below)
		} else {
			to = append(to, here)
		}
	}
	return to
}

// recordedFields returns the fields that the plan with this name set in its last run. The result is an object whose values have no meaning.
func recordedFields(is object, owner string) object {
	metadata := member(is, "metadata")
	text, noted := member(metadata, "annotations")[annotationFields].(string)
	if member(metadata, "labels")[labelOfPlan] != owner || !noted {
		return object{}
	}
	// The last run also set the annotation itself. A run without a new annotation therefore removes the old one. Otherwise the fields in the old
	// annotation would still count as the plan's after another client changes them.
	out := object{"metadata": object{"annotations": object{annotationFields: true}}}
	var paths []string
	if json.Unmarshal([]byte(text), &paths) != nil {
		return out
	}
	for _, path := range paths {
		tokens := strings.Split(strings.TrimPrefix(path, "/"), "/")
		at, last := out, len(tokens)-1
		for _, token := range tokens[:last] {
			token = unescape.Replace(token)
			below := member(at, token)
			at[token] = below
			at = below
		}
		at[unescape.Replace(tokens[last])] = true
	}
	return out
}

// change is one changed field in the form that is shown to people.
type change struct {
	Field string `json:"field"`
	From  any    `json:"from"`
	To    any    `json:"to"`
}

// merged compares the plan, its last run and the object on the server. The patch sets the plan's fields that differ. It removes each field that only
// the last run had. It does not change any other field, because another client may have set it.
func merged(at string, planned, last, is object) (patch object, changes []change) {
	patch = object{}
	names := slices.Collect(maps.Keys(planned))
	for name := range last {
		if _, found := planned[name]; !found {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		here := within(at, name)
		want, inPlan := planned[name]
		wantObject, isObject := want.(object)
		lastObject, wasObject := last[name].(object)
		switch {
		case isObject || !inPlan && wasObject:
			below, more := merged(here, wantObject, lastObject, member(is, name))
			if len(below) > 0 {
				patch[name], changes = below, append(changes, more...)
			}
		case !inPlan:
			if now, there := is[name]; there {
				patch[name], changes = nil, append(changes, change{here, now, nil})
			}
		case !same(name, want, is[name]):
			patch[name], changes = want, append(changes, change{here, is[name], want})
		}
	}
	return patch, changes
}

// same compares a field's values as the server does. Two spellings of a duration are equal. In a list of names, the order does not matter.
func same(field string, want, is any) bool {
	switch field {
	case "reuseAfter", "reuseAfterLost", "emptyPoolTTL":
		return verbs.SameSpan(text(want)) == verbs.SameSpan(text(is))
	case "isDefault":
		return want == is || want == false && is == nil
	case "classNames", "regions":
		return slices.Equal(sorted(want), sorted(is))
	case "reservations":
		return reflect.DeepEqual(spelt(want), spelt(is))
	default:
		return reflect.DeepEqual(want, is)
	}
}

// text returns a value as text.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		doc, err := show.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(doc)
	}
}

func sorted(list any) []string {
	var out []string
	items, _ := list.([]any)
	for _, item := range items {
		out = append(out, text(item))
	}
	slices.Sort(out)
	return out
}

// spelt converts addresses in reservations to the server's spelling.
func spelt(list any) []object {
	out := []object{}
	items, _ := list.([]any)
	for _, item := range items {
		o, _ := item.(object)
		o = maps.Clone(o)
		for _, name := range []string{"cidr", "from", "to"} {
			if s, is := o[name].(string); is {
				o[name] = canonical(s)
			}
		}
		out = append(out, o)
	}
	return out
}

// canonical converts a CIDR or an address to the server's spelling, for example 2001:DB8:0::/48 to 2001:db8::/48. It returns any other text
// unchanged.
func canonical(s string) string {
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.String()
	}
	if a, err := netip.ParseAddr(s); err == nil {
		return a.String()
	}
	return s
}
