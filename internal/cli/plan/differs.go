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

// placed has the part of a response about a pool or a claim that describes its location.
type placed struct {
	Metadata client.Metadata `json:"metadata"`
	Spec     struct {
		Region client.Name `json:"region"`
	} `json:"spec"`
	Status struct {
		AllocatedCIDR string              `json:"allocatedCIDR"`
		ParentRef     *client.ResolvedRef `json:"parentRef"`
		SpaceRef      *client.ResolvedRef `json:"spaceRef"`
		PoolRef       *client.ResolvedRef `json:"poolRef"`
		ClassName     client.Name         `json:"className"`
	} `json:"status"`
}

// fixedDifferences returns the differences in the fields that cannot be changed.
func (w wanted) fixedDifferences(project string, is found) (verbs.Differences, error) {
	var d verbs.Differences
	spec := member(w.fields, "spec")
	switch w.kind {
	case kindClass:
		for _, name := range fixed[kindClass] {
			want, got := text(spec[name]), text(member(is.doc, "spec")[name])
			d.Field(name, want, got)
		}
		return d, nil
	case kindPool, kindClaim:
	default:
		return nil, nil
	}
	var got placed
	if err := json.Unmarshal(is.raw, &got); err != nil {
		return nil, err
	}
	if w.kind == kindPool {
		parent := show.RefText(got.Status.ParentRef, project)
		switch {
		case w.parent == "" && parent != "":
			d = append(d, "it is a child of "+parent+", not a root")
		case w.parent == "":
			d.Field("space", show.FirstOf(refText(spec, "spaceRef", project), defaultSpace), show.RefText(got.Status.SpaceRef, project))
		default:
			d.Field("parent", w.parent, parent)
		}
		d.Field("region", text(spec["region"]), show.FirstOf(got.Spec.Region, got.Metadata.Region))
	} else {
		w.claimed(&d, project, got, is.doc)
	}
	d.Field("cidr", canonical(text(spec["cidr"])), canonical(got.Status.AllocatedCIDR))
	if block, err := netip.ParsePrefix(got.Status.AllocatedCIDR); err == nil && spec["prefixLength"] != nil {
		d.Field("prefixLength", "/"+text(spec["prefixLength"]), "/"+text(block.Bits()))
	}
	return d, nil
}

// refText returns a reference of a spec as name or project/name; "" is none.
func refText(spec object, field, project string) string {
	ref := member(spec, field)
	if len(ref) == 0 {
		return ""
	}
	return show.RefText(&client.ResolvedRef{Project: show.FirstOf(text(ref["project"]), project), Name: text(ref["name"])}, project)
}

// Differences compares the document of a new thing with the existing thing of its name. It compares only the fields that the document contains, and no
// labels and annotations. It returns the differences in fields that cannot be changed, and in the other fields.
func Differences(kind, project string, doc map[string]any, is json.RawMessage) (fixed, others verbs.Differences, err error) {
	w := wanted{kind: kind}
	body, err := show.Marshal(doc)
	if err == nil {
		err = json.Unmarshal(body, &w.fields)
	}
	there := world{kind: {}}
	if err == nil {
		err = there.put(kind, project, is)
	}
	if err != nil {
		return nil, nil, err
	}
	w.parent = refText(member(w.fields, "spec"), "parentRef", project)
	for _, found := range there[kind] {
		if fixed, err = w.fixedDifferences(project, found); err != nil {
			return nil, nil, err
		}
		_, changes := merged("", object{"spec": changeable(kind, w.fields)["spec"]}, object{}, found.doc)
		for _, c := range changes {
			others = append(others, fmt.Sprintf("%s is %s, not %s", strings.TrimPrefix(c.Field, "spec."), valueText(c.From), valueText(c.To)))
		}
	}
	return fixed, others, nil
}

// claimed compares a claim with the wanted source and block.
func (w wanted) claimed(d *verbs.Differences, project string, got placed, doc object) {
	spec, is := member(w.fields, "spec"), member(doc, "spec")
	d.Field("pool", refText(spec, "poolRef", project), show.RefText(got.Status.PoolRef, project))
	d.Field("class", text(spec["className"]), got.Status.ClassName)
	if block, err := netip.ParsePrefix(got.Status.AllocatedCIDR); err == nil {
		d.Field("address", canonical(text(spec["address"])), block.Addr().String())
		family := "IPv6"
		if block.Addr().Is4() {
			family = "IPv4"
		}
		d.Field("ipFamily", text(spec["ipFamily"]), family)
	}
	for _, name := range []string{"scope", "ownerRef", "maxConsumers", "whenUnused"} {
		if want := spec[name]; want != nil && !reflect.DeepEqual(want, is[name]) && !slices.Contains([]any{float64(1), "Keep"}, want) {
			d.Field(name, text(want), text(is[name]))
		}
	}
}
