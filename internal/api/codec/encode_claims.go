package codec

import (
	"slices"

	"github.com/carve-ipam/carve/internal/api/gen"
)

// usualClaim is the length in bytes that few claims exceed. It sizes a list's buffer.
const usualClaim = 900

func (w *jsonText) claims(name string, claims []gen.IPClaim) {
	w.name(name)
	if claims == nil {
		w.b = append(w.b, "null,"...)
		return
	}
	w.b = slices.Grow(w.b, usualClaim*len(claims))
	w.open('[')
	for i := range claims {
		w.claim(&claims[i])
	}
	w.shut(']')
}

func (w *jsonText) claim(c *gen.IPClaim) {
	w.open('{')
	w.metadata(&c.Metadata)
	w.claimSpec(&c.Spec)
	w.claimStatus(&c.Status)
	w.shut('}')
}

func (w *jsonText) metadata(m *gen.Metadata) {
	w.member("metadata")
	w.text("name", m.Name)
	w.text("uid", m.UID)
	w.some("project", m.Project)
	w.some("region", m.Region)
	w.integer("generation", m.Generation)
	w.text("revision", m.Revision)
	w.moment("createdAt", m.CreatedAt)
	w.some("createdBy", m.CreatedBy)
	w.moment("updatedAt", m.UpdatedAt)
	w.texts("labels", m.Labels)
	w.texts("annotations", m.Annotations)
	w.shut('}')
}

func (w *jsonText) claimSpec(s *gen.IPClaimSpec) {
	w.member("spec")
	w.some("address", s.Address)
	if s.AllocationRef != nil {
		w.member("allocationRef")
		w.text("name", s.AllocationRef.Name)
		w.some("project", s.AllocationRef.Project)
		w.shut('}')
	}
	w.some("cidr", s.CIDR)
	w.some("className", s.ClassName)
	if len(s.Consumers) > 0 { // no response has them, because the claim's status counts the attached consumers
		w.rare("consumers", s.Consumers)
	}
	w.some("ipFamily", string(s.IPFamily))
	if s.MaxConsumers != 0 {
		w.integer("maxConsumers", int64(s.MaxConsumers))
	}
	if o := s.OwnerRef; o != nil {
		w.member("ownerRef")
		w.some("kind", o.Kind)
		w.some("name", o.Name)
		w.some("uid", o.UID)
		w.shut('}')
	}
	if s.PoolRef != nil {
		w.member("poolRef")
		w.text("name", s.PoolRef.Name)
		w.some("project", s.PoolRef.Project)
		w.shut('}')
	}
	if s.PoolSelector != nil {
		w.rare("poolSelector", s.PoolSelector)
	}
	if s.PrefixLength != nil {
		w.integer("prefixLength", int64(*s.PrefixLength))
	}
	w.some("reclaimPolicy", string(s.ReclaimPolicy))
	w.texts("scope", s.Scope)
	w.some("whenUnused", string(s.WhenUnused))
	w.shut('}')
}

func (w *jsonText) claimStatus(s *gen.IPClaimStatus) {
	w.member("status")
	w.some("address", s.Address)
	w.text("allocatedCIDR", s.AllocatedCIDR)
	w.resolved("allocationRef", s.AllocationRef)
	w.some("className", s.ClassName)
	w.some("classProject", s.ClassProject)
	w.conditions(s.Conditions)
	if s.Consumers != 0 {
		w.integer("consumers", int64(s.Consumers))
	}
	w.text("phase", string(s.Phase))
	w.resolved("poolRef", s.PoolRef)
	w.text("reclaimPolicy", string(s.ReclaimPolicy))
	w.shut('}')
}

func (w *jsonText) resolved(name string, r gen.ResolvedRef) {
	w.member(name)
	w.text("name", r.Name)
	w.text("project", r.Project)
	w.shut('}')
}

func (w *jsonText) conditions(all []gen.Condition) {
	w.name("conditions")
	if all == nil {
		w.b = append(w.b, "null,"...)
		return
	}
	w.open('[')
	for i := range all {
		c := &all[i]
		w.open('{')
		w.text("type", c.Type)
		w.text("status", string(c.Status))
		w.text("reason", c.Reason)
		w.text("message", c.Message)
		w.moment("lastTransitionTime", c.LastTransitionTime)
		w.shut('}')
	}
	w.shut(']')
}
