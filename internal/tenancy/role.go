package tenancy

// Role determines the actions that a subject may do in one project. Each role may do everything that the roles before it may do.
type Role string

// The roles.
const (
	Viewer   Role = "viewer"   // reads
	Consumer Role = "consumer" // also claims
	Provider Role = "provider" // also creates pools, shares them, and releases retained blocks
	Admin    Role = "admin"    // also manages access; an admin of the project "platform" is admin in every project
)

// rank orders the roles. An invalid role has rank 0.
var rank = map[Role]int{Viewer: 1, Consumer: 2, Provider: 3, Admin: 4}

// Roles lists the roles, the smallest first.
func Roles() []Role { return []Role{Viewer, Consumer, Provider, Admin} }

// Valid reports whether r is a role.
func (r Role) Valid() bool { return rank[r] > 0 }

// Includes reports whether r permits everything that other permits. It is false if r or other is not a role.
func (r Role) Includes(other Role) bool {
	return rank[r] > 0 && rank[other] > 0 && rank[r] >= rank[other]
}

// Larger returns the higher of two roles.
func Larger(a, b Role) Role {
	if rank[a] >= rank[b] {
		return a
	}
	return b
}
