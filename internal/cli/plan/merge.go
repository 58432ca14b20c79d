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

// How things say that they are of a plan with a name: the label has the name, by which --prune finds them, and the annotation the fields that
// the plan said when it was applied last, so that a field that it no longer says is given its default.
const (
	labelOfPlan      = "ipamctl.carve/plan"
	annotationFields = "ipamctl.carve/applied-fields"
)

// longestAnnotation is what the contract lets a value be long.
const longestAnnotation = 4096

// changeable are the fields of a document that can be changed, as far as it says them: labels, annotations, and of the spec what is not fixed.
func changeable(kind string, doc object) object {
	metadata, spec := member(doc, "metadata"), maps.Clone(member(doc, "spec"))
	said := object{}
	for _, name := range fixed[kind] {
		delete(spec, name)
	}
	for _, name := range []string{"labels", "annotations"} {
		if m, is := metadata[name].(object); is {
			said[name] = m
		}
	}
	return object{"metadata": said, "spec": spec}
}

// member is an object in an object, which may be missing.
func member(doc object, name string) object {
	o, _ := doc[name].(object)
	if o == nil {
		o = object{}
	}
	return o
}

// remember writes into a new document whose it is, and which fields it says.
func remember(kind string, doc object, owner string) {
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

// leaves are the JSON pointers of the values in an object.
func leaves(to []string, at string, o object) []string {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		here := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		if below, is := o[name].(object); is {
			to = leaves(to, here, below)
		} else {
			to = append(to, here)
		}
	}
	return to
}

// remembered are the fields that the plan of this name said when it was applied last, as an object with values of no meaning.
func remembered(is object, owner string) object {
	metadata := member(is, "metadata")
	text, noted := member(metadata, "annotations")[annotationFields].(string)
	if member(metadata, "labels")[labelOfPlan] != owner || !noted {
		return object{}
	}
	// The note itself is of the last time too: without a new one it goes, or what others set later would be taken for what the plan said.
	out := object{"metadata": object{"annotations": object{annotationFields: true}}}
	var paths []string
	if json.Unmarshal([]byte(text), &paths) != nil {
		return out
	}
	for _, path := range paths {
		at := out
		tokens := strings.Split(strings.TrimPrefix(path, "/"), "/")
		for i, token := range tokens {
			token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
			if i == len(tokens)-1 {
				at[token] = true
				break
			}
			below := member(at, token)
			at[token] = below
			at = below
		}
	}
	return out
}

// change is one field that a patch changes, for people.
type change struct {
	Field string `json:"field"`
	From  any    `json:"from"`
	To    any    `json:"to"`
}

// merged compares three ways: what a plan says, what it said last, and what there is. The patch sets what it says and is otherwise, and takes
// away what it said and says no more. What it never said is left to others.
func merged(at string, said, last, is object) (patch object, changes []change) {
	patch = object{}
	names := slices.Collect(maps.Keys(said))
	for name := range last {
		if _, found := said[name]; !found {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		here := within(at, name)
		want, saying := said[name]
		wantObject, isObject := want.(object)
		lastObject, wasObject := last[name].(object)
		switch {
		case isObject || !saying && wasObject:
			below, more := merged(here, wantObject, lastObject, member(is, name))
			if len(below) > 0 {
				patch[name], changes = below, append(changes, more...)
			}
		case !saying:
			if now, there := is[name]; there {
				patch[name], changes = nil, append(changes, change{here, now, nil})
			}
		case !same(name, want, is[name]):
			patch[name], changes = want, append(changes, change{here, is[name], want})
		}
	}
	return patch, changes
}

// same compares two values of a field as the server would: a duration however it is spelt, a list of names in any order.
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

// text is a value as people write it.
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

// spelt spells the addresses of reservations as the server does.
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

// canonical spells a CIDR or an address as the server does, so that 2001:DB8:0::/48 is 2001:db8::/48. What is neither stays.
func canonical(s string) string {
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.String()
	}
	if a, err := netip.ParseAddr(s); err == nil {
		return a.String()
	}
	return s
}
