package alloc

import (
	"slices"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Match is an If-Match precondition. The zero Match demands nothing.
type Match struct {
	Any       bool     // If-Match: *
	Revisions []string // the entity tags, without quotes
}

// Set reports whether there is a precondition at all.
func (m Match) Set() bool { return m.Any || len(m.Revisions) > 0 }

// Check compares with the current revision; the refusal carries it.
func (m Match) Check(current ipam.ID) error {
	if !m.Set() || m.Any || slices.Contains(m.Revisions, current.String()) {
		return nil
	}
	e := ipam.Errorf(ipam.CodePreconditionFailed,
		"The resource has changed since it was read: If-Match does not name its current revision. Read it again and repeat the change.")
	e.Figures.CurrentRevision = current.String()
	return e.At("header:If-Match", "is not the current entity tag %q.", current)
}

// checkReplace is Check for what may not be there yet: a precondition demands that it is.
func (m Match) checkReplace(found bool, current ipam.ID) error {
	if found || !m.Set() {
		return m.Check(current)
	}
	return ipam.Errorf(ipam.CodePreconditionFailed, "There is nothing to replace yet: leave If-Match out to create it.").
		At("header:If-Match", "demands that the resource exists.")
}
