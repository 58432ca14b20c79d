package access

import (
	"github.com/carve-ipam/carve/internal/alloc/usecase"
)

// Access is the use cases on projects, spaces, and who may use them: members, API keys, grants.
type Access struct {
	*Projects
	*Spaces
	*Members
	*Keys
	*Grants
}

// New makes the room. A project can have maxSpaces spaces; 0: 256.
func New(core *usecase.Core, maxSpaces int) *Access {
	return &Access{
		Projects: &Projects{core}, Spaces: newSpaces(core, maxSpaces), Members: newMembers(core), Keys: newKeys(core), Grants: &Grants{core},
	}
}
