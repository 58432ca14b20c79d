package storetest

import (
	"context"
	"errors"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// transactions contains the tests of the three ways in which a transaction can end, and the dry run.
var transactions = map[string]func(*suite){
	"ClosureErrorIsReturnedAndNothingIsWritten": func(s *suite) {
		w := s.world()
		refused := ipam.Errorf(ipam.CodePoolExhausted, "Full.").At("/spec", "does not fit.").WithCause(errors.New("private"))
		for name, want := range map[string]error{
			"a refusal":       refused,
			"a conflict":      &storage.Conflict{ClaimRefs: []storage.NameRef{{Name: "x"}}},
			"any other error": errors.New("of the use case's own"),
		} {
			for run, do := range s.bothRuns() {
				s.changesNothing(func() {
					runs := 0
					err := do(s.ctx, "storetest_refuse", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
						runs++
						require.NoError(s, tx.Write(ctx, w.anything(s)))
						return want
					})
					require.Same(s, want, err, "%s, %s", name, run)
					require.Equal(s, 1, runs, "%s, %s: it is final", name, run)
				})
			}
		}
	},
	"TransactionSeesItsWrites": func(s *suite) {
		w := s.world()
		for _, do := range s.bothRuns() {
			require.ErrorIs(s, do(s.ctx, "storetest_read", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
				ch := w.anything(s)
				require.NoError(s, tx.Write(ctx, ch))
				_, err := tx.ClaimGet(ctx, w.key, w.claim.Name)
				require.True(s, ipam.IsCode(err, ipam.CodeNotFound), "%v", err)
				stocks, err := tx.Stocks(ctx, []storage.Container{w.c4})
				require.Equal(s, map[int]int64{24: 1}, stocks[w.c4.ID].Free)
				return errors.Join(err, errUndo)
			}), errUndo)
		}
	},
	"DryRunWritesNothing": func(s *suite) {
		w := s.world()
		s.changesNothing(func() {
			require.NoError(s, s.Store.DryRun(s.ctx, "storetest_dry", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
				if err := tx.Write(ctx, w.anything(s)); err != nil {
					return err
				}
				return tx.Write(ctx, storage.Changes{ClaimInsert: []ipam.Claim{s.claim(w.project, w.v6, "dry", "2001:db8::/64")}})
			}))
		})
		s.write(w.anything(s)) // and does not block later writes
	},
	"DryRunIsRefusedLikeTheRealRun": func(s *suite) {
		w := s.world()
		p := s.project("blue")
		err := s.Store.DryRun(s.ctx, "storetest_dry", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
			return tx.Write(ctx, storage.Changes{ProjectInsert: &p})
		})
		require.True(s, ipam.IsCode(err, ipam.CodeAlreadyExists), "%v", err)
		err = s.Store.DryRun(s.ctx, "storetest_dry", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
			return tx.Write(ctx, storage.Changes{ClaimInsert: []ipam.Claim{w.claim}})
		})
		var conflict *storage.Conflict
		require.ErrorAs(s, err, &conflict)
		var seen []int
		require.NoError(s, s.Store.DryRun(s.ctx, "storetest_dry", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
			if seen = append(seen, tx.Attempt()); tx.Attempt() > 0 {
				return nil
			}
			return tx.Write(ctx, storage.Changes{Free: []storage.FreeChange{remove(w.c4, "10.0.0.0/25")}})
		}))
		require.Equal(s, []int{0, 1}, seen)
	},
	"EveryTransactionIsSerializable": func(s *suite) {
		w := s.world()
		for name, do := range s.bothRuns() {
			for first, read := range map[string]func(ctx context.Context, tx storage.Tx) error{
				"nothing first": func(context.Context, storage.Tx) error { return nil },
				"a read first": func(ctx context.Context, tx storage.Tx) error {
					_, err := tx.ProjectGet(ctx, "blue")
					return err
				},
				"several reads in one round trip first": func(ctx context.Context, tx storage.Tx) error {
					_, err := tx.ClaimLookup(ctx, storage.ClaimQuery{Project: w.key, Name: "first", Pool: w.v4.Ref()})
					return err
				},
				"a write first": func(ctx context.Context, tx storage.Tx) error { return tx.Write(ctx, w.anything(s)) },
			} {
				err := do(s.ctx, "storetest_level", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
					require.NoError(s, read(ctx, tx))
					level, err := s.Isolation(ctx, tx)
					require.Equal(s, "serializable", level, "%s, %s", name, first)
					return errors.Join(err, errUndo)
				})
				require.ErrorIs(s, err, errUndo)
			}
		}
	},
	"EmptyTransactionSucceeds": func(s *suite) {
		for _, do := range s.bothRuns() {
			require.NoError(s, do(s.ctx, "storetest_nothing", storage.Locks{}, func(context.Context, storage.Tx) error { return nil }))
		}
	},
	"ExpiredDeadlineIsReportedAndNothingIsWritten": func(s *suite) {
		w := s.world()
		late, cancel := context.WithDeadline(s.ctx, time.Unix(0, 0))
		s.Cleanup(cancel)
		gone, leave := context.WithCancel(s.ctx)
		s.changesNothing(func() {
			for _, do := range s.bothRuns() {
				err := do(late, "storetest_late", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error { return tx.Write(ctx, w.anything(s)) })
				require.True(s, ipam.IsCode(err, ipam.CodeDeadline), "%v", err)
			}
			_, err := s.Store.ProjectGet(late, "blue")
			require.True(s, ipam.IsCode(err, ipam.CodeDeadline), "%v", err)
			err = s.Store.InTx(gone, "storetest_leave", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
				leave()
				return tx.Write(ctx, w.anything(s))
			})
			require.True(s, ipam.IsCode(err, ipam.CodeDeadline), "%v", err)
		})
	},
}

// errUndo ends a transaction that only reads.
var errUndo = errors.New("looked enough")

// bothRuns lists the two ways to run a transaction.
func (s *suite) bothRuns() map[string]func(context.Context, string, storage.Locks, func(context.Context, storage.Tx) error) error {
	return map[string]func(context.Context, string, storage.Locks, func(context.Context, storage.Tx) error) error{"InTx": s.Store.InTx, "DryRun": s.Store.DryRun}
}

// anything returns changes of every table.
func (w world) anything(s *suite) storage.Changes {
	pool, project, sp := w.v4, w.project, s.space(w.project, "lab")
	pool.Revision, project.Revision = ipam.NewID(), ipam.NewID()
	quota, shards := s.quota(w.project, "quota")
	return storage.Changes{
		AccessChanges: storage.AccessChanges{
			MemberInsert: new(s.member(w.project, "corp:bob", "viewer")), KeyInsert: new(s.key(w.project, "key")), GrantInsert: new(s.grantOf(w.v4, "red")),
		},
		QuotaChanges: storage.QuotaChanges{QuotaInsert: &quota, ShardInsert: shards},
		Events:       []ipam.Event{s.event(w.project, born)}, History: []ipam.Hold{s.hold(w.v4, "10.0.0.0/25", 1, 2)},
		Free:            []storage.FreeChange{{Container: w.c4, Delete: remove(w.c4, "10.0.0.128/25").Delete, Insert: insert(w.c4, "10.0.0.0/24").Insert}},
		ProjectUpdate:   &storage.ProjectUpdate{Was: w.project.Revision, Now: project},
		SpaceInsert:     []ipam.Space{sp},
		PoolUpdate:      &storage.PoolUpdate{Was: w.v4.Revision, Now: pool},
		ClaimDelete:     []ipam.Claim{w.claim},
		StoredResponses: []storage.StoredResponse{s.storedResponse(w.project, "another")},
	}
}
