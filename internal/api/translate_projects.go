package api

import (
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func projectSpec(s gen.ProjectSpec) ipam.ProjectSpec {
	return ipam.ProjectSpec{DisplayName: s.DisplayName, Description: s.Description}
}

func projectOf(p ipam.Project) gen.Project {
	return gen.Project{
		Metadata: metadataOf(p.Metadata),
		Spec:     gen.ProjectSpec{DisplayName: p.Spec.DisplayName, Description: p.Spec.Description},
		Status:   gen.ProjectStatus{Phase: gen.ProjectPhaseActive},
	}
}

func spaceSpec(s gen.SpaceSpec) ipam.SpaceSpec { return ipam.SpaceSpec{Description: s.Description} }

func spaceOf(s ipam.Space) gen.Space {
	return gen.Space{
		Metadata: metadataOf(s.Metadata),
		Spec:     gen.SpaceSpec{Description: s.Spec.Description},
		Status:   gen.SpaceStatus{Phase: gen.SpacePhaseReady},
	}
}
