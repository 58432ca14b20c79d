package access

import (
	"github.com/carve-ipam/carve/internal/alloc/usecase"
)

// Access contains the use cases for projects and spaces, and for access to them by members, API keys and grants.
type Access struct {
	*Projects
	*Spaces
	*Members
	*Keys
	*Grants
}

// New makes the use cases. maxSpaces limits the spaces in a project. If it is 0, the limit is DefaultMaxSpaces.
func New(core *usecase.Core, maxSpaces int) *Access {
	return &Access{
		Projects: &Projects{core}, Spaces: newSpaces(core, maxSpaces), Members: newMembers(core), Keys: newKeys(core), Grants: &Grants{core},
	}
}
