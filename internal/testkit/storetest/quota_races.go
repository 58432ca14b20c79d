package storetest

import (
	"context"
	"math/big"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// quotaRaces contains the tests of pairs of transactions on the shards of one quota.
var quotaRaces = map[string]func(*suite){
	// Each transaction uses its own shard, so they do not conflict.
	"TakesFromTwoShardsDoNotConflict": func(s *suite) {
		e := s.estate()
		attempts, first, second := s.race(e.take(s, 3), e.take(s, 7))
		require.NoError(s, first)
		require.NoError(s, second)
		require.Equal(s, 1, attempts)
		e.claimsTaken(s, 2)
	},
	"TakesFromOneShardAreSerialized": func(s *suite) {
		e := s.estate()
		s.firstThenSecond(e.take(s, 3), e.take(s, 3))
		e.claimsTaken(s, 2)
	},
	// All shards together allow one more claim, and both transactions see this. They write different shards, so only SERIALIZABLE detects the
	// conflict.
	"RestOfAllShardsIsTakenOnce": func(s *suite) {
		e := s.estate()
		e.leave(s, 1)
		attempts, first, second := s.race(e.takeOfAll(s, 3), e.takeOfAll(s, 7))
		require.NoError(s, first)
		require.Same(s, errNoRoom, second)
		require.Equal(s, 2, attempts)
	},
	"ReadOfAllShardsSeesATakeFromOne": func(s *suite) {
		e := s.estate()
		s.firstThenSecond(e.take(s, 3), e.gather(s, 7))
		e.claimsTaken(s, 1)
	},
	"TakeFromOneShardSeesARedistribution": func(s *suite) {
		e := s.estate()
		attempts, first, second := s.race(e.gather(s, 7), e.take(s, 3))
		require.NoError(s, first)
		require.Same(s, errNoRoom, second, "nothing is left in the shard")
		require.Equal(s, 2, attempts)
	},
	// A quota counts the held blocks while a transaction that saw no quota adds another block.
	"QuotaCountsAConcurrentClaim": func(s *suite) {
		e := s.estate()
		s.write(storage.Changes{QuotaChanges: storage.QuotaChanges{QuotaDelete: &e.quota}})
		counted := int64(-1)
		claim := func(ctx context.Context, tx storage.Tx, read func()) error {
			parts, err := tx.QuotaParts(ctx, []ipam.ID{e.project.UID}, 3)
			if err != nil {
				return err
			}
			read()
			require.Empty(s, parts)
			c := s.claim(e.project, e.v4, "unseen", "10.0.0.128/32")
			return tx.Write(ctx, storage.Changes{ClaimInsert: []ipam.Claim{c}})
		}
		put := func(ctx context.Context, tx storage.Tx, read func()) error {
			used, err := tx.UsageCount(ctx, e.key, ipam.QuotaScope{})
			if err != nil {
				return err
			}
			read()
			counted = used.Claims
			return tx.Write(ctx, storage.Changes{QuotaChanges: storage.QuotaChanges{QuotaInsert: &e.quota, ShardInsert: e.shards}})
		}
		s.firstThenSecond(claim, put)
		require.Equal(s, int64(2), counted)
	},
	"ClaimSeesAConcurrentQuota": func(s *suite) {
		e := s.estate()
		s.write(storage.Changes{QuotaChanges: storage.QuotaChanges{QuotaDelete: &e.quota}})
		seen := 0
		put := func(ctx context.Context, tx storage.Tx, read func()) error {
			if _, err := tx.UsageCount(ctx, e.key, ipam.QuotaScope{}); err != nil {
				return err
			}
			read()
			return tx.Write(ctx, storage.Changes{QuotaChanges: storage.QuotaChanges{QuotaInsert: &e.quota, ShardInsert: e.shards}})
		}
		claim := func(ctx context.Context, tx storage.Tx, read func()) error {
			parts, err := tx.QuotaParts(ctx, []ipam.ID{e.project.UID}, 3)
			if err != nil {
				return err
			}
			read()
			seen = len(parts)
			c := s.claim(e.project, e.v4, "unseen", "10.0.0.128/32")
			return tx.Write(ctx, storage.Changes{ClaimInsert: []ipam.Claim{c}})
		}
		s.firstThenSecond(put, claim)
		require.Equal(s, 1, seen)
	},
	// The limit is lowered while another transaction takes from a shard.
	"TakeSeesALowerLimit": func(s *suite) {
		e := s.estate()
		s.write(storage.Changes{QuotaChanges: storage.QuotaChanges{QuotaOverdrawn: []storage.QuotaMark{{ProjectID: e.project.UID, Name: "all"}}}})
		overdrawn := false
		lower := func(ctx context.Context, tx storage.Tx, read func()) error {
			shards, err := tx.QuotaShards(ctx, []ipam.ID{e.quota.UID})
			if err != nil {
				return err
			}
			read()
			now := e.quota
			now.Revision, now.Spec.Limits.Claims = ipam.NewID(), new(int64(1))
			ch := storage.QuotaChanges{QuotaUpdate: &storage.QuotaUpdate{WasRevision: e.quota.Revision, Now: now}}
			for _, was := range shards {
				less := was
				less.Spare.Claims -= 100
				ch.ShardUpdate = append(ch.ShardUpdate, storage.ShardUpdate{Was: was, Now: less})
			}
			return tx.Write(ctx, storage.Changes{QuotaChanges: ch})
		}
		take := func(ctx context.Context, tx storage.Tx, read func()) error {
			parts, err := tx.QuotaParts(ctx, []ipam.ID{e.project.UID}, 3)
			if err != nil {
				return err
			}
			read()
			overdrawn = parts[0].Quota.Overdrawn
			return e.takeFrom(ctx, tx, parts[0].Shard)
		}
		s.firstThenSecond(lower, take)
		require.True(s, overdrawn)
	},
}

// take takes one claim from a shard and reads no other shard.
func (e estate) take(s *suite, shard int) func(context.Context, storage.Tx, func()) error {
	return func(ctx context.Context, tx storage.Tx, read func()) error {
		parts, err := tx.QuotaParts(ctx, []ipam.ID{e.project.UID}, shard)
		if err != nil {
			return err
		}
		read()
		require.Len(s, parts, 1)
		if parts[0].Shard.Spare.Claims < 1 {
			return errNoRoom
		}
		return e.takeFrom(ctx, tx, parts[0].Shard)
	}
}

func (e estate) takeFrom(ctx context.Context, tx storage.Tx, was ipam.QuotaShard) error {
	now := was
	now.Used.Claims, now.Spare.Claims = now.Used.Claims+1, now.Spare.Claims-1
	return tx.Write(ctx, storage.Changes{QuotaChanges: storage.QuotaChanges{ShardUpdate: []storage.ShardUpdate{{Was: was, Now: now}}}})
}

// takeOfAll takes one claim if the spare amounts of all shards together allow it. It counts the claim in its own shard, whose spare amount may become
// negative.
func (e estate) takeOfAll(s *suite, own int) func(context.Context, storage.Tx, func()) error {
	return func(ctx context.Context, tx storage.Tx, read func()) error {
		shards, err := tx.QuotaShards(ctx, []ipam.ID{e.quota.UID})
		if err != nil {
			return err
		}
		read()
		left := int64(0)
		var was ipam.QuotaShard
		for _, q := range shards {
			if left += q.Spare.Claims; q.Shard == own {
				was = q
			}
		}
		require.Equal(s, own, was.Shard)
		if left < 1 {
			return errNoRoom
		}
		return e.takeFrom(ctx, tx, was)
	}
}

// gather moves the spare amounts of all other shards to one.
func (e estate) gather(s *suite, own int) func(context.Context, storage.Tx, func()) error {
	return func(ctx context.Context, tx storage.Tx, read func()) error {
		shards, err := tx.QuotaShards(ctx, []ipam.ID{e.quota.UID})
		if err != nil {
			return err
		}
		read()
		require.Len(s, shards, ipam.QuotaShards)
		var ch storage.QuotaChanges
		var mine ipam.QuotaShard
		sum := int64(0)
		for _, was := range shards {
			if sum += was.Spare.Claims; was.Shard == own {
				mine = was
				continue
			}
			now := was
			now.Spare.Claims = 0
			ch.ShardUpdate = append(ch.ShardUpdate, storage.ShardUpdate{Was: was, Now: now})
		}
		now := mine
		now.Spare.Claims = sum
		ch.ShardUpdate = append(ch.ShardUpdate, storage.ShardUpdate{Was: mine, Now: now})
		return tx.Write(ctx, storage.Changes{QuotaChanges: ch})
	}
}

// leave sets the spare amounts of all shards to zero, except n claims in the first.
func (e estate) leave(s *suite, n int64) {
	s.Helper()
	var ch storage.QuotaChanges
	for i, was := range e.shards {
		now := was
		now.Spare = ipam.Usage{Addresses: new(big.Int)}
		if i == 0 {
			now.Spare.Claims = n
		}
		ch.ShardUpdate = append(ch.ShardUpdate, storage.ShardUpdate{Was: was, Now: now})
	}
	s.write(storage.Changes{QuotaChanges: ch})
}

// claimsTaken checks that n claims were taken, and that the sum of used and spare amounts has not changed.
func (e estate) claimsTaken(s *suite, n int64) {
	s.Helper()
	shards, err := s.Store.QuotaShards(s.ctx, []ipam.ID{e.quota.UID})
	require.NoError(s, err)
	require.Len(s, shards, ipam.QuotaShards)
	used, spare := int64(0), int64(0)
	for _, q := range shards {
		used, spare = used+q.Used.Claims, spare+q.Spare.Claims
	}
	require.Equal(s, [2]int64{120 + n, 120 - n}, [2]int64{used, spare})
}
