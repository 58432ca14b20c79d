package codec

import (
	"time"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// newMetadata converts a new resource's metadata. If the caller gives generateName, newMetadata makes a name from it.
func newMetadata(m gen.CreateMetadata) (ipam.Metadata, error) {
	meta := ipam.Metadata{Name: m.Name, Labels: m.Labels, Annotations: m.Annotations}
	switch {
	case (m.Name == "") == (m.GenerateName == ""):
		return meta, ipam.Invalid("/metadata", "must have exactly one of name and generateName.")
	case m.GenerateName == "":
		return meta, nil
	case !ipam.ValidGenerateName(m.GenerateName):
		return meta, ipam.Invalid("/metadata/generateName", "must be 1 to %d of a-z, 0-9 and -, beginning with a letter or digit.", ipam.MaxGenerateName)
	}
	meta.GeneratedFrom = m.GenerateName
	meta.Rename()
	return meta, nil
}

func metadataOf(m ipam.Metadata) gen.Metadata {
	var b [72]byte
	ids := string(m.Revision.AppendTo(m.UID.AppendTo(b[:0])))
	return gen.Metadata{
		Name: m.Name, UID: ids[:36], Project: m.Project, Region: m.Region,
		Generation: m.Generation, Revision: ids[36:],
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, CreatedBy: m.CreatedBy,
		Labels: m.Labels, Annotations: m.Annotations,
	}
}

// ref converts a reference. A reference without a project refers to the project in the path.
func ref(project string, r *gen.Ref) ipam.Ref {
	if r == nil {
		return ipam.Ref{}
	}
	if r.Project != "" {
		project = r.Project
	}
	return ipam.Ref{Project: project, Name: r.Name}
}

func refOf(r ipam.Ref) *gen.Ref {
	if r == (ipam.Ref{}) {
		return nil
	}
	return &gen.Ref{Project: r.Project, Name: r.Name}
}

func resolvedRefOf(r ipam.Ref) gen.ResolvedRef {
	return gen.ResolvedRef{Project: r.Project, Name: r.Name}
}

// optionalRefOf returns nil if the name is empty. In this case, the reference is absent, or the caller may not know the name.
func optionalRefOf(r ipam.Ref) *gen.ResolvedRef {
	if r.Name == "" {
		return nil
	}
	resolved := resolvedRefOf(r)
	return &resolved
}

func ownerRef(o *gen.OwnerRef) *ipam.OwnerRef {
	if o == nil || *o == (gen.OwnerRef{}) {
		return nil
	}
	return (*ipam.OwnerRef)(o)
}

// allocated returns the only condition that a resource has if its creation allocates its block. message names the block's pool or space.
func allocated(message string, since time.Time) []gen.Condition {
	return []gen.Condition{{
		Type: "Allocated", Status: gen.ConditionStatusTrue, Reason: "AllocationSucceeded",
		Message: message, LastTransitionTime: since,
	}}
}

// Each converts each item of a list.
func Each[D, W any](items []D, convert func(D) W) []W {
	out := make([]W, len(items))
	for i, item := range items {
		out[i] = convert(item)
	}
	return out
}
