package storage

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// QuotaReader reads quotas and their figures.
type QuotaReader interface {
	// QuotaGet answers a quota with what is used, added up over its shards.
	QuotaGet(ctx context.Context, project ProjectKey, name string) (ipam.Quota, error)
	QuotaList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.Quota, error)
	// QuotaParts answers all quotas of the projects (at most MaxQuotas each), each with one of its shards in the server's own region: what a
	// transaction needs that stays within it. Used of the quotas is not filled in.
	QuotaParts(ctx context.Context, projects []ipam.ID, shard int) ([]QuotaPart, error)
	// QuotaShards answers all shards of the quotas, of all regions.
	QuotaShards(ctx context.Context, quotas []ipam.ID) ([]ipam.QuotaShard, error)
	// UsageCount counts what a project holds within a scope, row by row: the truth that the shards repeat.
	UsageCount(ctx context.Context, project ProjectKey, scope ipam.QuotaScope) (ipam.Usage, error)
}

// MaxQuotas is how many quotas a project can have: each costs every claim of the project a row.
const MaxQuotas = 16

// QuotaPart is a quota with one of its shards.
type QuotaPart struct {
	Quota   ipam.Quota
	Shard   ipam.QuotaShard
	Missing bool // there is no such shard: the quota is older than the region. It must not count as no quota
}

// QuotaChanges is the part of Changes about quotas.
type QuotaChanges struct {
	QuotaInsert *ipam.Quota
	QuotaUpdate *QuotaUpdate
	QuotaDelete *ipam.Quota // with its shards
	// QuotaOverdrawn sets the mark alone; the revision stays.
	QuotaOverdrawn []QuotaMark
	ShardInsert    []ipam.QuotaShard
	ShardUpdate    []ShardUpdate
}

// QuotaUpdate replaces what can change of a quota that still has revision Was.
type QuotaUpdate struct {
	Was ipam.ID
	Now ipam.Quota
}

// QuotaMark says whether a quota is overdrawn from now on.
type QuotaMark struct {
	ProjectID ipam.ID
	Name      string
	Overdrawn bool
}

// ShardUpdate replaces a shard that still has the figures Was.
type ShardUpdate struct{ Was, Now ipam.QuotaShard }

// GroupQuery asks for what a group of claims on one pool depends on besides the pool's blocks.
type GroupQuery struct {
	Projects  []ipam.ID // whose quotas are asked for
	Shard     int
	Consumers []string // projects other than the pool's own that claim from it

	Pool    ipam.Pool    // as it is known; it is read only if it has another revision by now
	Classes []ProjectKey // the state of whose classes is asked for

	Remember bool // what is read serves the next groups: InOneTrip
}

// GroupFacts answers a GroupQuery, with the pool as it is now and the free blocks that were found.
type GroupFacts struct {
	Pool    ipam.Pool
	Free    []prefix
	Quotas  []QuotaPart
	Granted map[string]bool // by consumer: the pool is granted to it, by name or to everybody

	Fenced bool // the pool's rows in the region are of another time than the record of what the region was lent

	Stock *ipam.Stock // what is left of the pool, if that is known; nobody changes it

	Claims, Keys map[NameRef]bool    // those that exist
	Epochs       map[ipam.ID]ipam.ID // of the projects asked for, and of the platform, which is under the zero id as well
	Platform     ipam.ID             // zero: no epoch was asked for
}
