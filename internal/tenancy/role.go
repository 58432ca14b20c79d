package tenancy

// Role says what a subject may do in one project. Each role includes the ones before it.
type Role string

// The roles.
const (
	Viewer   Role = "viewer"   // reads
	Consumer Role = "consumer" // and claims
	Provider Role = "provider" // and carves pools, shares them, gives retained blocks back
	Admin    Role = "admin"    // and says who may do what; as admin of the project "platform", in every project
)

// rank orders the roles; what is no role ranks below all of them.
var rank = map[Role]int{Viewer: 1, Consumer: 2, Provider: 3, Admin: 4}

// Roles lists the roles, the smallest first.
func Roles() []Role { return []Role{Viewer, Consumer, Provider, Admin} }

// Valid reports whether r is one of the roles.
func (r Role) Valid() bool { return rank[r] > 0 }

// Includes reports whether whoever holds r may do what least demands. What is no role includes nothing, and nothing
// includes it.
func (r Role) Includes(least Role) bool {
	return rank[r] > 0 && rank[least] > 0 && rank[r] >= rank[least]
}

// Larger is the one of two roles that includes the other.
func Larger(a, b Role) Role {
	if rank[a] >= rank[b] {
		return a
	}
	return b
}
