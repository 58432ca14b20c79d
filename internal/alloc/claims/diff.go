package claims

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/ipam"
)

// differing says in what an existing claim is not what a wanted one asks for, field by field. What the wanted one says is compared with what the
// claim has got, however that was asked for. Labels and annotations do not count: others may have changed them since.
func differing(have, want ipam.Claim) []ipam.Field {
	d := claimComparison{have: have, want: want}
	d.source()
	d.length()
	d.family()
	if !sameReclaim(have, want.Spec.ReclaimPolicy) {
		d.add("/spec/reclaimPolicy", string(have.ReclaimPolicy), string(want.Spec.ReclaimPolicy))
	}
	// The owner tells two objects apart whose claims have one name by accident: they must not be given one block. Who names none asks for nobody's.
	if owner := want.Spec.OwnerRef; owner != nil && !reflect.DeepEqual(have.Spec.OwnerRef, owner) {
		d.add("/spec/ownerRef", ownerText(have.Spec.OwnerRef), ownerText(owner))
	}
	if have, want := have.Spec.MostConsumers(), want.Spec.MostConsumers(); have != want {
		d.add("/spec/maxConsumers", strconv.Itoa(have), strconv.Itoa(want))
	}
	if have, want := cmp.Or(have.Spec.WhenUnused, ipam.UnusedKeep), cmp.Or(want.Spec.WhenUnused, ipam.UnusedKeep); have != want {
		d.add("/spec/whenUnused", string(have), string(want))
	}
	return d.fields
}

// claimComparison collects in what two claims differ.
type claimComparison struct {
	have, want ipam.Claim
	fields     []ipam.Field
}

// add notes a field with what is there and what was asked for, in words; "": none.
func (d *claimComparison) add(pointer, there, asked string) {
	detail := "is " + there + " there, " + asked + " was asked for."
	switch {
	case there == "":
		detail = "is not there, " + asked + " was asked for."
	case asked == "":
		detail = "is " + there + " there, none was asked for."
	}
	d.fields = append(d.fields, ipam.Field{Pointer: pointer, Detail: detail})
}

// source compares where the block is from. A class may be named that has served by default.
func (d *claimComparison) source() {
	have, want := d.have.Spec, d.want.Spec
	byDefault := have.ByClass() && have.ClassName == "" && want.ClassName == d.have.Class.Ref.Name
	if have.ClassName != want.ClassName && !byDefault {
		d.add("/spec/className", have.ClassName, want.ClassName)
	}
	if !maps.Equal(have.Scope, want.Scope) {
		d.add("/spec/scope", scopeText(have.Scope), scopeText(want.Scope))
	}
	if have.PoolRef != want.PoolRef {
		d.add("/spec/poolRef", refText(have.PoolRef), refText(want.PoolRef))
	}
	if !reflect.DeepEqual(have.PoolSelector, want.PoolSelector) {
		d.add("/spec/poolSelector", selectorText(have.PoolSelector, "a selector"), selectorText(want.PoolSelector, "another selector"))
	}
	switch of := want.AllocationOf; {
	case have.AllocationRef != want.AllocationRef:
		d.add("/spec/allocationRef", have.AllocationRef, want.AllocationRef)
	case of != "" && of != d.have.Pool.Project:
		d.add("/spec/allocationRef/project", d.have.Pool.Project, of)
	}
}

// length compares the block. A length that is left out means the default one, which need not be what the claim was made with.
func (d *claimComparison) length() {
	have, want := d.have.Spec, d.want.Spec
	there := fmt.Sprintf("/%d", d.have.Block.Bits())
	switch exact := want.Exact(); {
	case exact.IsValid() && exact != d.have.Block:
		d.add(resolve.ExactPointer(want), d.have.Block.String(), exact.String())
	case exact.IsValid() || want.AllocationRef != "":
	case want.PrefixLength != nil && *want.PrefixLength != d.have.Block.Bits():
		d.add("/spec/prefixLength", there, fmt.Sprintf("/%d", *want.PrefixLength))
	case want.PrefixLength == nil && (have.PrefixLength != nil || have.Exact().IsValid()):
		d.add("/spec/prefixLength", there, "")
	}
}

// family compares the family, which has a default only where nothing says where the block is from.
func (d *claimComparison) family() {
	want := d.want.Spec.Family
	if want == "" && d.want.Spec.ByClass() && d.want.Spec.ClassName == "" {
		want = d.want.Spec.WantedFamily()
	}
	if there := ipam.FamilyOf(d.have.Block.Addr()); want != "" && want != there {
		d.add("/spec/ipFamily", string(there), string(want))
	}
}

func refText(r ipam.Ref) string {
	if r == (ipam.Ref{}) {
		return ""
	}
	return r.String()
}

func scopeText(scope map[string]string) string {
	var parts []string
	for _, role := range slices.Sorted(maps.Keys(scope)) {
		parts = append(parts, role+"="+scope[role])
	}
	return strings.Join(parts, ",")
}

func selectorText(s *ipam.Selector, words string) string {
	if s == nil {
		return ""
	}
	return words
}

func ownerText(o *ipam.OwnerRef) string {
	if o == nil {
		return ""
	}
	return strings.Trim(strings.Join([]string{o.Kind, o.Name, o.UID}, "/"), "/")
}

// sameReclaim reports whether a wanted policy is the one that an existing claim has. What came of leaving it out is the same as saying it,
// and without a class so is leaving out Delete.
func sameReclaim(have ipam.Claim, want ipam.ReclaimPolicy) bool {
	switch said := have.Spec.ReclaimPolicy; said {
	case want:
		return true
	case "":
		return want == have.ReclaimPolicy
	default:
		return want == "" && said == ipam.ReclaimDelete && have.Class.IsZero()
	}
}
