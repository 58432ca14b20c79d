package storage

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// QuotaReader reads quotas and their use.
type QuotaReader interface {
	// QuotaGet returns a quota with its use. The use is the sum over all shards.
	QuotaGet(ctx context.Context, project ProjectKey, name string) (ipam.Quota, error)
	QuotaList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.Quota, error)
	// QuotaParts returns all quotas in the projects, at most MaxQuotas for each project. Each quota comes with one shard in the server's own region.
	// A transaction that uses only this shard needs no other shard. Used is not set.
	QuotaParts(ctx context.Context, projects []ipam.ID, shard int) ([]QuotaPart, error)
	// QuotaShards returns all the quotas' shards in all regions.
	QuotaShards(ctx context.Context, quotas []ipam.ID) ([]ipam.QuotaShard, error)
	// UsageCount counts a project's use within a scope from its objects' rows. The sum of the shards must equal this count.
	UsageCount(ctx context.Context, project ProjectKey, scope ipam.QuotaScope) (ipam.Usage, error)
}

// MaxQuotas limits the quotas in a project, because every claim in the project reads a row from each quota.
const MaxQuotas = 16

// QuotaPart is a quota with one of its shards.
type QuotaPart struct {
	Quota   ipam.Quota
	Shard   ipam.QuotaShard
	Missing bool // the shard does not exist, because the quota is older than the region; the quota still applies
}

// QuotaChanges contains the changes to quotas.
type QuotaChanges struct {
	QuotaInsert *ipam.Quota
	QuotaUpdate *QuotaUpdate
	QuotaDelete *ipam.Quota // with its shards
	// QuotaOverdrawn changes only whether a quota is overdrawn. It does not change the quota's revision.
	QuotaOverdrawn []QuotaMark
	ShardInsert    []ipam.QuotaShard
	ShardUpdate    []ShardUpdate
}

// QuotaUpdate replaces the mutable fields in a quota that still has revision Was.
type QuotaUpdate struct {
	WasRevision ipam.ID
	Now         ipam.Quota
}

// QuotaMark sets whether a quota is overdrawn: more is in use than its limit allows.
type QuotaMark struct {
	ProjectID ipam.ID
	Name      string
	Overdrawn bool
}

// ShardUpdate replaces a shard that still has the figures in Was.
type ShardUpdate struct{ Was, Now ipam.QuotaShard }

// GroupQuery requests the facts that a group of claims on one pool needs, in addition to the pool's blocks.
type GroupQuery struct {
	Projects  []ipam.ID // the projects with the quotas to read
	Shard     int
	Consumers []string // other projects than the pool's project that claim from the pool

	Pool    ipam.Pool    // the pool as the caller knows it; it is read only if its revision has changed
	Classes []ProjectKey // the projects with the class versions to read

	Remember bool // cache the facts for the next groups (InOneRoundTrip)
}

// GroupFacts is the result of a GroupQuery. It contains the current pool and the free blocks that were found.
type GroupFacts struct {
	Pool    ipam.Pool
	Free    []prefix
	Quotas  []QuotaPart
	Granted map[string]bool // by consumer project: a grant lets the project use the pool

	Fenced bool // the pool's rows in the region and the loan records come from different backups

	Stock *ipam.Stock // the pool's free space, if known; read-only

	Claims, Keys map[NameRef]bool    // existing names and keys
	Epochs       map[ipam.ID]ipam.ID // the class versions for the requested projects and the platform; the zero id is another key for the platform
	Platform     ipam.ID             // the platform's id; zero if no version was requested
}
