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

// differences returns the fields in which an existing claim differs from a request. It compares the request with the claim's current values, even if
// defaults set them. It ignores labels and annotations, because other clients may have changed them since.
func differences(have, want ipam.Claim) []ipam.Field {
	d := claimComparison{have: have, want: want}
	d.source()
	d.length()
	d.family()
	if !sameReclaim(have, want.Spec.ReclaimPolicy) {
		d.add("/spec/reclaimPolicy", string(have.ReclaimPolicy), string(want.Spec.ReclaimPolicy))
	}
	// Two objects may use the same claim name by accident. They must not share one block, so the owner distinguishes them. A request without an owner
	// matches every owner.
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

// claimComparison collects the differences between two claims.
type claimComparison struct {
	have, want ipam.Claim
	fields     []ipam.Field
}

// add records a field with its existing and its requested value as text. An empty text means that the field is not set.
func (d *claimComparison) add(pointer, there, asked string) {
	detail := "is " + there + " in the existing claim; the request asks for " + asked + "."
	switch {
	case there == "":
		detail = "is not set in the existing claim; the request asks for " + asked + "."
	case asked == "":
		detail = "is " + there + " in the existing claim; the request does not set it."
	}
	d.fields = append(d.fields, ipam.Field{Pointer: pointer, Detail: detail})
}

// source compares the blocks' sources: class, scope, pool, selector and allocation. If a default class served the existing claim, the request may
// name that class.
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

// length compares the blocks' lengths. A request without a length wants the default length. The existing claim may have another length.
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

// family compares the address families. A family has a default only if the request names no source.
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

// sameReclaim reports whether a requested reclaim policy is the same as in an existing claim. If the existing claim's spec sets no policy, a request
// for its effective policy is the same. If the existing claim has no class and its spec sets Delete, a request without a policy is the same.
func sameReclaim(have ipam.Claim, want ipam.ReclaimPolicy) bool {
	switch policy := have.Spec.ReclaimPolicy; policy {
	case want:
		return true
	case "":
		return want == have.ReclaimPolicy
	default:
		return want == "" && policy == ipam.ReclaimDelete && have.Class.IsZero()
	}
}
