package codec

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/api/refuse"
	"github.com/carve-ipam/carve/internal/ipam"
)

// NewClaim converts a POST body into a claim.
func NewClaim(project string, c gen.IPClaimCreate) (ipam.Claim, error) {
	meta, wrongMeta := newMetadata(c.Metadata)
	spec, wrongSpec := ClaimSpec(project, c.Spec)
	return ipam.Claim{Metadata: meta, Spec: spec}, cmp.Or(wrongMeta, wrongSpec)
}

// NewClaims converts a batch's claims. Its errors point to the claim's index in the batch.
func NewClaims(project string, b gen.ClaimBatchCreate) ([]ipam.Claim, error) {
	claims := make([]ipam.Claim, len(b.Claims))
	for i, wire := range b.Claims {
		var err error
		if claims[i], err = NewClaim(project, wire); err != nil {
			return nil, prefixPointers("/claims/"+strconv.Itoa(i), err)
		}
	}
	return claims, nil
}

// PutClaim converts a PUT body into a claim with the name in the path.
func PutClaim(project, name string, b gen.IPClaimPut) (ipam.Claim, error) {
	meta := ValueOr(b.Metadata, gen.PutMetadata{})
	if meta.Name != "" && meta.Name != name {
		return ipam.Claim{}, ipam.Invalid("/metadata/name", "is not the name in the path; leave it out.")
	}
	spec, err := ClaimSpec(project, b.Spec)
	return ipam.Claim{Metadata: ipam.Metadata{Name: name, Labels: meta.Labels, Annotations: meta.Annotations}, Spec: spec}, err
}

// ClaimSpec converts a claim's spec. It treats empty and absent fields as the same, so that a repeated PUT finds the specs equal.
func ClaimSpec(project string, s gen.IPClaimSpec) (ipam.ClaimSpec, error) {
	spec := ipam.ClaimSpec{
		ClassName: s.ClassName, PoolRef: ref(project, s.PoolRef), PoolSelector: selector(s.PoolSelector), PrefixLength: s.PrefixLength,
		Family: ipam.Family(s.IPFamily), ReclaimPolicy: ipam.ReclaimPolicy(s.ReclaimPolicy), OwnerRef: ownerRef(s.OwnerRef),
		MaxConsumers: s.MaxConsumers, WhenUnused: ipam.WhenUnused(s.WhenUnused), Consumers: claimConsumers(s.Consumers),
	}
	if len(s.Scope) > 0 {
		spec.Scope = s.Scope
	}
	if s.AllocationRef != nil {
		spec.AllocationRef, spec.AllocationOf = s.AllocationRef.Name, s.AllocationRef.Project
	}
	var err error
	if spec.CIDR, err = Block("/spec/cidr", s.CIDR); err != nil {
		return spec, err
	}
	spec.Address, err = Address("/spec/address", s.Address)
	return spec, err
}

func selector(s *gen.LabelSelector) *ipam.Selector { //nolint:staticcheck // deprecated for callers, but still served
	if s == nil {
		return nil
	}
	out := &ipam.Selector{}
	if len(s.MatchLabels) > 0 {
		out.MatchLabels = s.MatchLabels
	}
	for _, r := range s.MatchExpressions {
		q := ipam.Requirement{Key: r.Key, Operator: ipam.Operator(r.Operator)}
		if len(r.Values) > 0 {
			q.Values = r.Values
		}
		out.MatchExpressions = append(out.MatchExpressions, q)
	}
	return out
}

func selectorOf(s *ipam.Selector) *gen.LabelSelector { //nolint:staticcheck // deprecated for callers, but still served
	if s == nil {
		return nil
	}
	out := &gen.LabelSelector{MatchLabels: s.MatchLabels} //nolint:staticcheck // as above
	for _, r := range s.MatchExpressions {
		out.MatchExpressions = append(out.MatchExpressions, gen.LabelSelectorRequirement{
			Key: r.Key, Operator: gen.LabelSelectorOperator(r.Operator), Values: r.Values,
		})
	}
	return out
}

// ClaimOf converts a claim into its wire form.
func ClaimOf(c ipam.Claim) gen.IPClaim {
	var b [64]byte
	carved := string(c.Block.AppendTo(b[:0]))
	claim := gen.IPClaim{
		Metadata: metadataOf(c.Metadata),
		Spec: gen.IPClaimSpec{
			ClassName: c.Spec.ClassName, Scope: c.Spec.Scope, PoolRef: refOf(c.Spec.PoolRef), PoolSelector: selectorOf(c.Spec.PoolSelector), PrefixLength: c.Spec.PrefixLength,
			IPFamily: gen.IPFamily(c.Spec.Family), CIDR: blockOf(c.Spec.CIDR), Address: addressOf(c.Spec.Address),
			ReclaimPolicy: gen.ReclaimPolicy(c.Spec.ReclaimPolicy), OwnerRef: (*gen.OwnerRef)(c.Spec.OwnerRef),
			MaxConsumers: c.Spec.MaxConsumers, WhenUnused: gen.WhenUnused(c.Spec.WhenUnused),
		},
		Status: gen.IPClaimStatus{
			Phase:         gen.IPClaimPhaseBound,
			AllocatedCIDR: carved,
			PoolRef:       resolvedRefOf(c.Pool),
			AllocationRef: gen.ResolvedRef{Project: c.Pool.Project, Name: c.AllocationID.String()},
			ClassName:     c.Class.Ref.Name,
			ClassProject:  c.Class.Ref.Project,
			ReclaimPolicy: gen.ReclaimPolicy(c.ReclaimPolicy),
			Consumers:     c.Consumers,
			Conditions:    allocated(carved+" was carved from pool "+c.Pool.Project+"/"+c.Pool.Name+".", c.CreatedAt),
		},
	}
	if c.Spec.AllocationRef != "" {
		claim.Spec.AllocationRef = &gen.AllocationRef{Project: c.Spec.AllocationOf, Name: c.Spec.AllocationRef}
	}
	if c.Block.IsSingleIP() {
		claim.Status.Address, _, _ = strings.Cut(carved, "/")
	}
	return claim
}

// prefixPointers puts a prefix before an error's pointers, such as the position of a claim in a batch.
func prefixPointers(prefix string, err error) error {
	e, ok := errors.AsType[*ipam.Error](err)
	if !ok || e.Code != ipam.CodeInvalidArgument {
		return err
	}
	fields := slices.Clone(e.Fields)
	for i := range fields {
		fields[i].Pointer = prefix + fields[i].Pointer
	}
	return refuse.Invalid(fields)
}
