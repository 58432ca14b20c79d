package storage

import (
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// These are the kinds of objects that a list's filter can name.
const (
	NamedPool  = "pool"
	NamedSpace = "space"
	NamedClass = "class"
)

// Named is an object that a filter names. The reference to a class always contains the project that lists, even if the platform owns the class.
type Named struct {
	What string
	Ref  ipam.Ref
}

// Shown returns the name in the form that the filter uses.
func (n Named) Shown(project string) string {
	if n.Ref.Project == project {
		return n.Ref.Name
	}
	return n.Ref.Project + "/" + n.Ref.Name
}

// RetainedCursor is a position in a project's list of retained allocations, ordered by the pool's project, container and address.
type RetainedCursor struct {
	ProjectID   ipam.ID    `json:"p"`
	ContainerID ipam.ID    `json:"c"`
	Base        netip.Addr `json:"b"`
}
