package storage

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// QuotaReader reads quotas and their use.
type QuotaReader interface {
	// QuotaGet returns a quota with its use, summed over its shards.
	QuotaGet(ctx context.Context, project ProjectKey, name string) (ipam.Quota, error)
	QuotaList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.Quota, error)
	// QuotaParts returns all quotas of the projects (at most MaxQuotas each), each with one shard in the server's own region. A transaction within
	// that shard needs no more. Used is not set.
	QuotaParts(ctx context.Context, projects []ipam.ID, shard int) ([]QuotaPart, error)
	// QuotaShards returns all shards of the quotas, in all regions.
	QuotaShards(ctx context.Context, quotas []ipam.ID) ([]ipam.QuotaShard, error)
	// UsageCount counts a project's use within a scope row by row. The shards must sum up to it.
	UsageCount(ctx context.Context, project ProjectKey, scope ipam.QuotaScope) (ipam.Usage, error)
}

// MaxQuotas limits the quotas in a project. Each quota costs every claim in the project a row.
const MaxQuotas = 16

// QuotaPart is a quota with one of its shards.
type QuotaPart struct {
	Quota   ipam.Quota
	Shard   ipam.QuotaShard
	Missing bool // the shard does not exist because the quota is older than the region; this must not count as no quota
}

// QuotaChanges contains the changes to quotas.
type QuotaChanges struct {
	QuotaInsert *ipam.Quota
	QuotaUpdate *QuotaUpdate
	QuotaDelete *ipam.Quota // with its shards
	// QuotaOverdrawn sets the mark alone and keeps the revision.
	QuotaOverdrawn []QuotaMark
	ShardInsert    []ipam.QuotaShard
	ShardUpdate    []ShardUpdate
}

// QuotaUpdate replaces the mutable fields in a quota that still has revision Was.
type QuotaUpdate struct {
	WasRevision ipam.ID
	Now         ipam.Quota
}

// QuotaMark sets whether a quota is overdrawn.
type QuotaMark struct {
	ProjectID ipam.ID
	Name      string
	Overdrawn bool
}

// ShardUpdate replaces a shard that still has the figures Was.
type ShardUpdate struct{ Was, Now ipam.QuotaShard }

// GroupQuery asks for the facts that a group of claims on one pool needs, other than the pool's blocks.
type GroupQuery struct {
	Projects  []ipam.ID // owners of the quotas to read
	Shard     int
	Consumers []string // projects other than the pool's own that claim from it

	Pool    ipam.Pool    // the pool as the caller knows it; it is read only if its revision has changed
	Classes []ProjectKey // projects for which the class versions are read

	Remember bool // cache the facts for the next groups (InOneRoundTrip)
}

// GroupFacts is the result of a GroupQuery, with the current pool and the free blocks found.
type GroupFacts struct {
	Pool    ipam.Pool
	Free    []prefix
	Quotas  []QuotaPart
	Granted map[string]bool // by consumer: the pool is granted to it, by name or by a grant to all

	Fenced bool // the pool's rows in the region and the loan records come from different backups

	Stock *ipam.Stock // the pool's free space, if known; read-only

	Claims, Keys map[NameRef]bool    // existing names and keys
	Epochs       map[ipam.ID]ipam.ID // class versions of the requested projects and the platform, which also has the zero id
	Platform     ipam.ID             // the platform's id; zero: no version was requested
}
