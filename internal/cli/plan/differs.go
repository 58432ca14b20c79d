package plan

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// fixedDifferences returns the differences in the fields that cannot be changed.
func (st *step) fixedDifferences(project string, is found) (d verbs.Differences) {
	spec := member(st.fields, "spec")
	switch st.Kind {
	case kindClass:
		for _, name := range fixed[kindClass] {
			d.Field(name, text(spec[name]), text(member(is.doc, "spec")[name]))
		}
		return d
	case kindPool:
		switch {
		case st.parent == "" && is.parent != "":
			d = append(d, "it is a child of "+is.parent+", not a root")
		case st.parent == "":
			d.Field("space", show.FirstOf(refText(spec, "spaceRef", project), defaultSpace), is.space)
		default:
			d.Field("parent", st.parent, is.parent)
		}
		d.Field("region", text(spec["region"]), show.FirstOf(is.Spec.Region, is.Metadata.Region))
	case kindClaim:
		claimed(&d, spec, project, is)
	default:
		return nil
	}
	d.Field("cidr", canonical(text(spec["cidr"])), canonical(is.Status.AllocatedCIDR))
	if block, err := netip.ParsePrefix(is.Status.AllocatedCIDR); err == nil && spec["prefixLength"] != nil {
		d.Field("prefixLength", "/"+text(spec["prefixLength"]), "/"+text(block.Bits()))
	}
	return d
}

// refText returns a reference in a spec as name or project/name; "" is none.
func refText(spec object, field, project string) string {
	ref := member(spec, field)
	if len(ref) == 0 {
		return ""
	}
	return show.RefText(&client.ResolvedRef{Project: show.FirstOf(text(ref["project"]), project), Name: text(ref["name"])}, project)
}

// Differences compares a new object with the existing object that has its name. It compares only the fields that the document contains, and no labels
// and annotations. It returns the differences in fields that cannot be changed, and in the other fields.
func Differences(kind, project string, doc map[string]any, is json.RawMessage) (fixed, others verbs.Differences, err error) {
	st := step{key: key{Kind: kind}}
	body, err := show.Marshal(doc)
	if err == nil {
		err = json.Unmarshal(body, &st.fields)
	}
	if err != nil {
		return nil, nil, err
	}
	there, err := foundIn(kind, project, is)
	if err != nil {
		return nil, nil, err
	}
	st.parent = refText(member(st.fields, "spec"), "parentRef", project)
	_, changes := merged("", object{"spec": changeable(kind, st.fields)["spec"]}, object{}, there.doc)
	for _, c := range changes {
		others = append(others, fmt.Sprintf("%s is %s, not %s", strings.TrimPrefix(c.Field, "spec."), valueText(c.From), valueText(c.To)))
	}
	return st.fixedDifferences(project, there), others, nil
}

// claimed compares a claim's source and block with the spec in a plan.
func claimed(d *verbs.Differences, spec object, project string, is found) {
	has := member(is.doc, "spec")
	d.Field("pool", refText(spec, "poolRef", project), is.parent)
	d.Field("class", text(spec["className"]), is.Status.ClassName)
	if block, err := netip.ParsePrefix(is.Status.AllocatedCIDR); err == nil {
		d.Field("address", canonical(text(spec["address"])), block.Addr().String())
		family := "IPv6"
		if block.Addr().Is4() {
			family = "IPv4"
		}
		d.Field("ipFamily", text(spec["ipFamily"]), family)
	}
	for _, name := range []string{"scope", "ownerRef", "maxConsumers", "whenUnused"} {
		if want := spec[name]; want != nil && !reflect.DeepEqual(want, has[name]) && !slices.Contains([]any{float64(1), "Keep"}, want) {
			d.Field(name, text(want), text(has[name]))
		}
	}
}
