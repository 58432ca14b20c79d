package access

import "github.com/carve-ipam/carve/internal/alloc/usecase"

// Access is the use cases on projects, spaces, and who may use them: members, API keys, grants.
type Access struct {
	*usecase.Core

	maxSpaces int
}

// New makes the room. A project can have maxSpaces spaces; 0: 256.
func New(core *usecase.Core, maxSpaces int) *Access {
	if maxSpaces <= 0 {
		maxSpaces = DefaultMaxSpaces
	}
	return &Access{Core: core, maxSpaces: maxSpaces}
}
