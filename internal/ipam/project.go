package ipam

import "cmp"

// PlatformProject is the operators' reserved project. It always exists.
const PlatformProject = "platform"

// DefaultSpace names the space that every project has from the beginning.
const DefaultSpace = "default"

// Limits for free text.
const (
	MaxDisplayName = 128
	MaxDescription = 1024
	MaxReason      = 256
)

// Project is a tenant.
type Project struct {
	Metadata
	Spec ProjectSpec `json:"spec"`
}

// ProjectSpec has the project fields that the caller sets.
type ProjectSpec struct {
	DisplayName string `json:"displayName,omitempty"`
	Description string `json:"description,omitempty"`
}

// Check validates the texts.
func (s ProjectSpec) Check() error {
	return cmp.Or(
		CheckText("/spec/displayName", s.DisplayName, MaxDisplayName, false), CheckText("/spec/description", s.Description, MaxDescription, true),
	)
}

// Space is a routing domain. It has two containers for free blocks, one for each family.
type Space struct {
	Metadata
	ProjectID   ID        `json:"projectId"`
	ContainerV4 ID        `json:"containerV4"`
	ContainerV6 ID        `json:"containerV6"`
	Spec        SpaceSpec `json:"spec"`
}

// SpaceSpec has the space fields that the caller sets.
type SpaceSpec struct {
	Description string `json:"description,omitempty"`
}

// Check validates the texts.
func (s SpaceSpec) Check() error {
	return CheckText("/spec/description", s.Description, MaxDescription, true)
}

// Container returns the id of a family's container.
func (s Space) Container(f Family) ID {
	if f == IPv4 {
		return s.ContainerV4
	}
	return s.ContainerV6
}

// ProjectKey identifies a project in database statements.
type ProjectKey struct {
	ID   ID
	Name string
}
