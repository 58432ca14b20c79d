package codec

import (
	"slices"

	"github.com/carve-ipam/carve/internal/api/gen"
)

// usualClaim is the length in bytes that few claims exceed, to size the buffer of a list.
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
	w.close(']')
}

func (w *jsonText) claim(c *gen.IPClaim) {
	w.open('{')
	w.metadata(&c.Metadata)
	w.claimSpec(&c.Spec)
	w.claimStatus(&c.Status)
	w.close('}')
}

func (w *jsonText) metadata(m *gen.Metadata) {
	w.member("metadata")
	w.text("name", m.Name)
	w.text("uid", m.UID)
	w.optionalText("project", m.Project)
	w.optionalText("region", m.Region)
	w.integer("generation", m.Generation)
	w.text("revision", m.Revision)
	w.timestamp("createdAt", m.CreatedAt)
	w.optionalText("createdBy", m.CreatedBy)
	w.timestamp("updatedAt", m.UpdatedAt)
	w.textMap("labels", m.Labels)
	w.textMap("annotations", m.Annotations)
	w.close('}')
}

func (w *jsonText) claimSpec(s *gen.IPClaimSpec) {
	w.member("spec")
	w.optionalText("address", s.Address)
	if s.AllocationRef != nil {
		w.member("allocationRef")
		w.text("name", s.AllocationRef.Name)
		w.optionalText("project", s.AllocationRef.Project)
		w.close('}')
	}
	w.optionalText("cidr", s.CIDR)
	w.optionalText("className", s.ClassName)
	if len(s.Consumers) > 0 { // no response has them, because the claim's status counts the attached consumers
		w.encodedMember("consumers", s.Consumers)
	}
	w.optionalText("ipFamily", string(s.IPFamily))
	if s.MaxConsumers != 0 {
		w.integer("maxConsumers", int64(s.MaxConsumers))
	}
	if o := s.OwnerRef; o != nil {
		w.member("ownerRef")
		w.optionalText("kind", o.Kind)
		w.optionalText("name", o.Name)
		w.optionalText("uid", o.UID)
		w.close('}')
	}
	if s.PoolRef != nil {
		w.member("poolRef")
		w.text("name", s.PoolRef.Name)
		w.optionalText("project", s.PoolRef.Project)
		w.close('}')
	}
	if s.PoolSelector != nil {
		w.encodedMember("poolSelector", s.PoolSelector)
	}
	if s.PrefixLength != nil {
		w.integer("prefixLength", int64(*s.PrefixLength))
	}
	w.optionalText("reclaimPolicy", string(s.ReclaimPolicy))
	w.textMap("scope", s.Scope)
	w.optionalText("whenUnused", string(s.WhenUnused))
	w.close('}')
}

func (w *jsonText) claimStatus(s *gen.IPClaimStatus) {
	w.member("status")
	w.optionalText("address", s.Address)
	w.text("allocatedCIDR", s.AllocatedCIDR)
	w.resolved("allocationRef", s.AllocationRef)
	w.optionalText("className", s.ClassName)
	w.optionalText("classProject", s.ClassProject)
	w.conditions(s.Conditions)
	if s.Consumers != 0 {
		w.integer("consumers", int64(s.Consumers))
	}
	w.text("phase", string(s.Phase))
	w.resolved("poolRef", s.PoolRef)
	w.text("reclaimPolicy", string(s.ReclaimPolicy))
	w.close('}')
}

func (w *jsonText) resolved(name string, r gen.ResolvedRef) {
	w.member(name)
	w.text("name", r.Name)
	w.text("project", r.Project)
	w.close('}')
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
		w.timestamp("lastTransitionTime", c.LastTransitionTime)
		w.close('}')
	}
	w.close(']')
}
