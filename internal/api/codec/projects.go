package codec

import (
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// NewProject converts a POST body into a project.
func NewProject(_ string, b gen.ProjectCreate) (ipam.Project, error) {
	meta, err := newMetadata(b.Metadata)
	return ipam.Project{Metadata: meta, Spec: projectSpec(ValueOr(b.Spec, gen.ProjectSpec{}))}, err
}

func projectSpec(s gen.ProjectSpec) ipam.ProjectSpec {
	return ipam.ProjectSpec{DisplayName: s.DisplayName, Description: s.Description}
}

// ProjectOf converts a project into its wire form.
func ProjectOf(p ipam.Project) gen.Project {
	return gen.Project{
		Metadata: metadataOf(p.Metadata),
		Spec:     gen.ProjectSpec{DisplayName: p.Spec.DisplayName, Description: p.Spec.Description},
		Status:   gen.ProjectStatus{Phase: gen.ProjectPhaseActive},
	}
}

// NewSpace converts a POST body into a space.
func NewSpace(_ string, b gen.SpaceCreate) (ipam.Space, error) {
	meta, err := newMetadata(b.Metadata)
	return ipam.Space{Metadata: meta, Spec: ipam.SpaceSpec(ValueOr(b.Spec, gen.SpaceSpec{}))}, err
}

// SpaceOf converts a space into its wire form.
func SpaceOf(s ipam.Space) gen.Space {
	return gen.Space{
		Metadata: metadataOf(s.Metadata),
		Spec:     gen.SpaceSpec(s.Spec),
		Status:   gen.SpaceStatus{Phase: gen.SpacePhaseReady},
	}
}
