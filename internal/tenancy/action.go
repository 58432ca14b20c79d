package tenancy

// Action is a permission that the server checks. Each operation in the contract names its action (x-permission), and so does each use case.
type Action string

// The actions.
const (
	ProjectsList     Action = "projects.list"
	ProjectsCreate   Action = "projects.create"
	ProjectsRead     Action = "projects.read"
	ProjectsWrite    Action = "projects.write"
	ProjectsDelete   Action = "projects.delete"
	SpacesRead       Action = "spaces.read"
	SpacesWrite      Action = "spaces.write"
	PoolsRead        Action = "pools.read"
	PoolsWrite       Action = "pools.write"
	ClassesRead      Action = "classes.read"
	ClassesWrite     Action = "classes.write"
	ClaimsRead       Action = "claims.read"
	ClaimsWrite      Action = "claims.write"
	AllocationsRead  Action = "allocations.read"
	AllocationsWrite Action = "allocations.write"
	GrantsRead       Action = "grants.read"
	GrantsWrite      Action = "grants.write"
	MembersRead      Action = "members.read"
	MembersWrite     Action = "members.write"
	KeysRead         Action = "keys.read"
	KeysWrite        Action = "keys.write"
	QuotasRead       Action = "quotas.read"
	QuotasWrite      Action = "quotas.write"
	AuditRead        Action = "audit.read"
	HistoryRead      Action = "history.read"
	ChangesRead      Action = "changes.read"
	ConsumersRead    Action = "consumers.read"
	ConsumersWrite   Action = "consumers.write"
	RealmsConfirm    Action = "realms.confirm"
	WebhooksRead     Action = "webhooks.read"
	WebhooksWrite    Action = "webhooks.write"
	DeliveriesRead   Action = "deliveries.read"
	DeliveriesWrite  Action = "deliveries.write"
	AlertRulesRead   Action = "alertrules.read"
	AlertRulesWrite  Action = "alertrules.write"
	AlertsRead       Action = "alerts.read"
	Whoami           Action = "whoami"
	Search           Action = "search"
)

// reach is the project in which the caller must have the role.
type reach int

const (
	inProject  reach = iota // in the request's project
	inPlatform              // in the project "platform", whichever project the request names
	anywhere                // no role: any authenticated caller may do it
)

// permission describes the role that an action needs.
type permission struct {
	least Role
	reach reach
}

// Permissions that need a role in the request's project.
var (
	viewer   = permission{Viewer, inProject}
	consumer = permission{Consumer, inProject}
	provider = permission{Provider, inProject}
	admin    = permission{Admin, inProject}
)

// permissions is the whole policy. If the policy has no entry for an action, the server refuses the action to every caller.
var permissions = map[Action]permission{
	ProjectsList:     {reach: anywhere}, // returns only projects that the caller may see
	ProjectsCreate:   {Admin, inPlatform},
	ProjectsRead:     viewer,
	ProjectsWrite:    admin,
	ProjectsDelete:   {Admin, inPlatform},
	SpacesRead:       viewer,
	SpacesWrite:      provider,
	PoolsRead:        viewer,
	PoolsWrite:       provider,
	ClassesRead:      viewer,
	ClassesWrite:     provider,
	ClaimsRead:       viewer,
	ClaimsWrite:      consumer,
	AllocationsRead:  viewer,
	AllocationsWrite: provider,
	GrantsRead:       provider,
	GrantsWrite:      provider,
	MembersRead:      admin,
	MembersWrite:     admin,
	KeysRead:         admin,
	KeysWrite:        admin,
	QuotasRead:       viewer,
	QuotasWrite:      admin,
	AuditRead:        admin,
	HistoryRead:      viewer,
	ChangesRead:      viewer,
	ConsumersRead:    viewer,
	ConsumersWrite:   consumer,
	RealmsConfirm:    admin,
	WebhooksRead:     viewer,
	WebhooksWrite:    admin,
	DeliveriesRead:   admin,
	DeliveriesWrite:  admin,
	AlertRulesRead:   viewer,
	AlertRulesWrite:  provider,
	AlertsRead:       viewer,
	Whoami:           {reach: anywhere},
	Search:           {reach: anywhere}, // finds only resources that the caller may see
}

// Lasting reports whether an action's effect outlives the caller's rights. Such an action gives rights to others or to another identity of the
// caller, or it sends the project's data to another system. For such an action, authentication does not use the caches. Otherwise a caller could use
// a right that was just revoked to get it back.
func (a Action) Lasting() bool {
	switch a {
	case KeysWrite, MembersWrite, GrantsWrite, QuotasWrite, ProjectsCreate, ProjectsDelete, WebhooksWrite:
		return true
	default:
		return false
	}
}

// Known reports whether the policy has an entry for the action.
func (a Action) Known() bool {
	_, ok := permissions[a]
	return ok
}
