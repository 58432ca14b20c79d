package storetest

import (
	"context"
	"math/big"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// estate is a world whose project has a member, a key, a pool with a grant to another project, and a quota.
type estate struct {
	world
	other  ipam.Project
	member ipam.Member
	secret ipam.APIKey
	grant  ipam.Grant
	quota  ipam.Quota
	shards []ipam.QuotaShard
}

func (s *suite) estate() estate {
	s.Helper()
	e := estate{world: s.world(), other: s.project("red")}
	e.member, e.secret = s.member(e.project, "corp:alice", "admin"), s.key(e.project, "robot")
	e.grant = s.grantOf(e.v4, e.other.Name)
	e.quota, e.shards = s.quota(e.project, "all")
	s.write(storage.Changes{
		ProjectInsert: &e.other,
		AccessChanges: storage.AccessChanges{MemberInsert: &e.member, KeyInsert: &e.secret, GrantInsert: &e.grant},
		QuotaChanges:  storage.QuotaChanges{QuotaInsert: &e.quota, ShardInsert: e.shards},
	})
	return e
}

// bare returns metadata without labels and without a region.
func (s *suite) bare(project, name string) ipam.Metadata {
	m := s.meta(project, name)
	m.Region, m.Labels, m.Annotations = "", nil, nil
	return m
}

// notBare lists the fields that bare omits.
var notBare = []string{".Metadata.Region", ".Metadata.Labels", ".Metadata.Annotations"}

func (s *suite) member(p ipam.Project, subject, role string) ipam.Member {
	return ipam.Member{Metadata: s.bare(p.Name, subject), ProjectID: p.UID, Spec: ipam.MemberSpec{Role: role}}
}

func (s *suite) key(p ipam.Project, name string) ipam.APIKey {
	k := ipam.APIKey{
		Metadata: s.meta(p.Name, name), ProjectID: p.UID, Hash: []byte{0, 1, 2, 31: 255}, LastUsedAt: born.Add(time.Minute),
		Spec: ipam.APIKeySpec{Role: "provider", ExpiresAt: born.Add(time.Hour), Description: "Key " + name},
	}
	k.Region = ""
	return k
}

func (s *suite) grantOf(p ipam.Pool, consumer string) ipam.Grant {
	return ipam.Grant{Metadata: s.bare(p.Project, consumer), Kind: ipam.GrantOfPool, SubjectID: p.UID}
}

func poolSubject(p ipam.Pool) storage.GrantSubject {
	return storage.GrantSubject{Kind: ipam.GrantOfPool, ID: p.UID, Name: p.Name}
}

// quota returns a quota with a value in every field, and its shards. A shard's number determines its used and spare amounts, which are equal.
func (s *suite) quota(p ipam.Project, name string) (ipam.Quota, []ipam.QuotaShard) {
	q := ipam.Quota{
		Metadata: s.bare(p.Name, name), ProjectID: p.UID, Overdrawn: true, Owner: ipam.QuotaOfProject,
		Spec: ipam.QuotaSpec{
			Scope:  ipam.QuotaScope{Pool: ipam.Ref{Project: "blue", Name: "four"}, Class: ipam.Ref{Project: "platform", Name: "fast"}, Family: ipam.IPv4},
			Limits: ipam.QuotaLimits{Addresses: power(128), Claims: new(int64(1) << 62), Pools: new(int64(7))}, Description: "Quota " + name,
		},
		Used: ipam.Usage{Addresses: new(big.Int).Lsh(big.NewInt(120), 100), Claims: 120, Pools: 120},
	}
	shards := make([]ipam.QuotaShard, ipam.QuotaShards)
	for i := range shards {
		n := int64(i)
		u := ipam.Usage{Addresses: new(big.Int), Claims: n, Pools: n}
		if n > 0 {
			u.Addresses.Lsh(big.NewInt(n), 100)
		}
		shards[i] = ipam.QuotaShard{Region: s.Region, QuotaID: q.UID, Shard: i, Used: u, Spare: u}
	}
	return q, shards
}

// power returns 2^n.
func power(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }

// staleRunsAgain checks that each outdated plan writes nothing, not even its valid parts, and that its transaction runs again.
func (s *suite) staleRunsAgain(plans map[string]storage.Changes) {
	s.Helper()
	for name, plan := range plans {
		plan.StoredResponses = append(plan.StoredResponses, s.storedResponse(ipam.Project{}, "beside"))
		var seen []int
		s.changesNothing(func() {
			err := s.Store.InTx(s.ctx, "storetest_write", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
				if seen = append(seen, tx.Attempt()); tx.Attempt() > 0 {
					return nil // the second attempt has nothing to write
				}
				err := tx.Write(ctx, plan)
				require.Error(s, err, name)
				return err
			})
			require.NoError(s, err, name)
		})
		require.Equal(s, []int{0, 1}, seen, name)
	}
}
