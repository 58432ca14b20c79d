package storage

import (
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// What the filter of a list can name.
const (
	NamedPool  = "pool"
	NamedSpace = "space"
	NamedClass = "class"
)

// Named is something that a filter names. A class is named as one of the project whose list it is, whosever it is.
type Named struct {
	What string
	Ref  ipam.Ref
}

// Shown is the name as the filter has it.
func (n Named) Shown(project string) string {
	if n.Ref.Project == project {
		return n.Ref.Name
	}
	return n.Ref.Project + "/" + n.Ref.Name
}

// RetainedCursor is a place in the list of what a project has retained: by the pool's project, container and address.
type RetainedCursor struct {
	ProjectID   ipam.ID    `json:"p"`
	ContainerID ipam.ID    `json:"c"`
	Base        netip.Addr `json:"b"`
}
