package codec

import (
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ProjectSpec is the spec of a project that was sent.
func ProjectSpec(s gen.ProjectSpec) ipam.ProjectSpec {
	return ipam.ProjectSpec{DisplayName: s.DisplayName, Description: s.Description}
}

// ProjectOf is a project as it is answered.
func ProjectOf(p ipam.Project) gen.Project {
	return gen.Project{
		Metadata: metadataOf(p.Metadata),
		Spec:     gen.ProjectSpec{DisplayName: p.Spec.DisplayName, Description: p.Spec.Description},
		Status:   gen.ProjectStatus{Phase: gen.ProjectPhaseActive},
	}
}

// SpaceSpec is the spec of a space that was sent.
func SpaceSpec(s gen.SpaceSpec) ipam.SpaceSpec { return ipam.SpaceSpec{Description: s.Description} }

// SpaceOf is a space as it is answered.
func SpaceOf(s ipam.Space) gen.Space {
	return gen.Space{
		Metadata: metadataOf(s.Metadata),
		Spec:     gen.SpaceSpec{Description: s.Spec.Description},
		Status:   gen.SpaceStatus{Phase: gen.SpacePhaseReady},
	}
}
