package tenancy

// Role determines the actions of a subject in one project. Each role includes the ones before it.
type Role string

// The roles.
const (
	Viewer   Role = "viewer"   // reads
	Consumer Role = "consumer" // also claims
	Provider Role = "provider" // also carves pools, shares them, and releases retained blocks
	Admin    Role = "admin"    // also manages access; as admin of the project "platform", in every project
)

// rank orders the roles; an invalid role ranks below all.
var rank = map[Role]int{Viewer: 1, Consumer: 2, Provider: 3, Admin: 4}

// Roles lists the roles, the smallest first.
func Roles() []Role { return []Role{Viewer, Consumer, Provider, Admin} }

// Valid reports whether r is one of the roles.
func (r Role) Valid() bool { return rank[r] > 0 }

// Includes reports whether r permits everything that least permits. An invalid role includes nothing, and no role includes it.
func (r Role) Includes(least Role) bool {
	return rank[r] > 0 && rank[least] > 0 && rank[r] >= rank[least]
}

// Larger returns the role that includes the other.
func Larger(a, b Role) Role {
	if rank[a] >= rank[b] {
		return a
	}
	return b
}
