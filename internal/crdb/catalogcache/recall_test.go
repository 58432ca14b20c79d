package catalogcache_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/catalogcache"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/ipam"
)

var at = lookup.FenceKey{Region: "here", ID: ipam.NewID()}

func pool() *catalogcache.Pool {
	return &catalogcache.Pool{Free: freespace.NewFreeListCache(netip.MustParsePrefix("10.0.0.0/8"))}
}

func TestCachedPoolIsTakenByOneAtATime(t *testing.T) {
	t.Parallel()
	m := catalogcache.New(time.Now)
	require.False(t, m.Has(at))
	m.Put(at, pool())
	require.True(t, m.Has(at))
	p := m.Take(at)
	require.NotNil(t, p)
	require.Nil(t, m.Take(at), "somebody has it")
	m.Put(at, p)
	require.NotNil(t, m.Take(at))
}

func TestPoolChangedElsewhereIsNotCachedForASecond(t *testing.T) {
	t.Parallel()
	now := time.Now()
	m := catalogcache.New(func() time.Time { return now })
	m.Put(at, pool())
	m.Invalidate(at)
	require.False(t, m.Has(at))
	require.False(t, m.MayCache(at))
	now = now.Add(2 * time.Second)
	require.True(t, m.MayCache(at))
}

func TestMissingRowsAreReadAgainForShortPools(t *testing.T) {
	t.Parallel()
	m := catalogcache.New(time.Now)
	p := pool()
	m.Put(at, p)
	m.MarkShort(at, m.Take(at))
	require.True(t, m.MayCache(at))
	require.True(t, m.IsShort(at), "it is short, and read whole")
	p = pool()
	p.Fence.Stock = ipam.Stock{Free: map[int]int64{32: catalogcache.Short}}
	m.Put(at, p)
	m.MarkShort(at, m.Take(at))
	require.False(t, m.IsShort(at))
	require.False(t, m.MayCache(at), "it has served nobody")
	other := lookup.FenceKey{Region: "here", ID: ipam.NewID()}
	for range 10 {
		m.Put(other, p)
		p = m.Take(other)
	}
	m.MarkShort(other, p)
	require.True(t, m.MayCache(other))
}

func TestProjectIsCachedByVersion(t *testing.T) {
	t.Parallel()
	m := catalogcache.New(time.Now)
	id, mark, epoch := ipam.NewID(), ipam.NewID(), ipam.NewID()
	part := storage.QuotaPart{Quota: ipam.Quota{Metadata: ipam.Metadata{UID: ipam.NewID()}}, Shard: ipam.QuotaShard{Shard: 3}}
	part.Shard.QuotaID = part.Quota.UID
	m.PutProject(id, catalogcache.Project{Mark: mark, Regions: []string{"here"}, Parts: map[int][]storage.QuotaPart{3: {part}}})
	m.PutProject(id, catalogcache.Project{Mark: mark, Epoch: &epoch})
	p := m.Project(id)
	require.Equal(t, []string{"here"}, p.Regions)
	require.Equal(t, epoch, *p.Epoch)
	parts, known := p.Quotas(7)
	require.True(t, known)
	require.Equal(t, []storage.QuotaPart{part}, parts, "another shard does as well")

	now := part.Shard
	now.Spare.Claims = 5
	m.AddUsage(id, []storage.ShardUpdate{{Was: part.Shard, Now: now}})
	parts, _ = m.Project(id).Quotas(3)
	require.EqualValues(t, 5, parts[0].Shard.Spare.Claims)
	require.Zero(t, p.Parts[3][0].Shard.Spare.Claims, "who has it already goes on with that")

	m.PutProject(id, catalogcache.Project{Mark: ipam.NewID(), Regions: []string{"there"}})
	require.Nil(t, m.Project(id).Epoch, "of another mark")
	_, known = m.Project(id).Quotas(3)
	require.False(t, known)
	m.AddUsage(id, []storage.ShardUpdate{{Was: part.Shard, Now: now}})
	_, known = m.Project(id).Quotas(3)
	require.False(t, known, "what was counted of quotas that are not remembered teaches none")
	m.RemoveProject(id)
	require.Nil(t, m.Project(id))
}

// A group has claims of several projects. It also depends on the classes of the platform project, so the cache also has an entry for the platform.
// That entry has no quotas.
func TestCachedQuotaPartsAreKeptPerProject(t *testing.T) {
	t.Parallel()
	m := catalogcache.New(time.Now)
	quota := ipam.NewID()
	update := storage.ShardUpdate{Now: ipam.QuotaShard{QuotaID: quota, Shard: 5}}
	platform, other := ipam.NewID(), ipam.NewID()
	m.PutProject(platform, catalogcache.Project{Mark: ipam.NewID()})
	part := storage.QuotaPart{Quota: ipam.Quota{Metadata: ipam.Metadata{UID: ipam.NewID()}}, Shard: ipam.QuotaShard{Shard: 3}}
	m.PutProject(other, catalogcache.Project{Mark: ipam.NewID(), Parts: map[int][]storage.QuotaPart{3: {part}}})
	for _, id := range []ipam.ID{platform, other} {
		m.AddUsage(id, []storage.ShardUpdate{update})
	}
	_, known := m.Project(platform).Quotas(5)
	require.False(t, known, "it is not known whether it has quotas")
	parts, known := m.Project(other).Quotas(5)
	require.True(t, known)
	require.Equal(t, []storage.QuotaPart{part}, parts)
}
