package storetest

import (
	"context"
	"errors"
	"net/netip"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// concurrent contains the tests of pairs of transactions that both read before either writes. The first commits before the second writes, so the
// second must run again and see the changes of the first. Barriers decide the order, so no test depends on timing.
var concurrent = map[string]func(*suite){
	// Two adjacent blocks could merge into one free block. Each of two transactions releases one of them, and has seen the other block as held. If
	// both committed as planned, the two free blocks would not merge. They write different rows, so only SERIALIZABLE detects this.
	"WriteSkewIsDetectedByTheSecond": func(s *suite) {
		w := s.world()
		low, high := cidr("2001:db8::/64"), cidr("2001:db8:0:1::/64")
		s.write(storage.Changes{Free: []storage.FreeChange{remove(w.c6, "2001:db8::/32")}})
		release := func(block netip.Prefix) func(context.Context, storage.Tx, func()) error {
			return func(ctx context.Context, tx storage.Tx, read func()) error {
				buddies, err := tx.FreeRead(ctx, w.c6, freespace.Reads{Keys: freespace.MergeCandidates([]netip.Prefix{block}, w.c6.Block)})
				if err != nil {
					return err
				}
				read()
				gone, merged := freespace.Merge([]netip.Prefix{block}, buddies, w.c6.Block)
				return tx.Write(ctx, storage.Changes{Free: []storage.FreeChange{{Container: w.c6, Delete: gone, Insert: merged}}})
			}
		}
		s.firstThenSecond(release(low), release(high))
		left, err := s.Store.FreeList(s.ctx, w.c6, 128, netip.Prefix{}, 10)
		require.NoError(s, err)
		require.Equal(s, []string{"2001:db8::/63"}, texts(left), "the second has merged what the first released")
	},
	// Both transactions read a number, add one and write it back.
	"NoUpdateIsLost": func(s *suite) {
		w := s.world()
		increment := func(ctx context.Context, tx storage.Tx, read func()) error {
			p, err := tx.ProjectGet(ctx, "blue")
			if err != nil {
				return err
			}
			read()
			now := p
			now.Generation++
			now.Revision = ipam.DerivedID(p.Revision, "next")
			return tx.Write(ctx, storage.Changes{ProjectUpdate: &storage.ProjectUpdate{Was: p.Revision, Now: now}})
		}
		s.firstThenSecond(increment, increment)
		p, err := s.Store.ProjectGet(s.ctx, "blue")
		require.NoError(s, err)
		require.Equal(s, w.project.Generation+2, p.Generation)
	},
	"BlockIsTakenOnce": func(s *suite) {
		w := s.world()
		var got []netip.Prefix
		take := func(ctx context.Context, tx storage.Tx, read func()) error {
			wish := []freespace.BlockRequest{{Bits: 26}}
			blocks, err := tx.FreeRead(ctx, w.c4, freespace.ReadsFor(w.c4.Block, wish))
			if err != nil {
				return err
			}
			read()
			set, err := freespace.NewFreeSet(w.c4.Block, blocks)
			if err != nil {
				return err
			}
			block, ok := set.Take(wish[0])
			if !ok {
				return errNoRoom
			}
			gone, rest := set.Changes()
			if err := tx.Write(ctx, storage.Changes{Free: []storage.FreeChange{{Container: w.c4, Delete: gone, Insert: rest}}}); err != nil {
				return err
			}
			got = append(got, block)
			return nil
		}
		s.firstThenSecond(take, take)
		require.Equal(s, []string{"10.0.0.128/26", "10.0.0.192/26"}, texts(got))
	},
	// Both transactions saw the name as free. The second gets a Conflict, at once or in its second attempt.
	"NameIsTakenOnce": func(s *suite) {
		w := s.world()
		withoutProjectName := func(ctx context.Context, tx storage.Tx, read func()) error {
			if _, err := tx.ClaimGet(ctx, w.key, "wanted"); err != nil && !ipam.IsCode(err, ipam.CodeNotFound) {
				return err
			}
			read()
			return tx.Write(ctx, storage.Changes{ClaimInsert: []ipam.Claim{s.claim(w.project, w.v4, "wanted", "10.0.0.128/32")}})
		}
		_, first, second := s.race(withoutProjectName, withoutProjectName)
		require.NoError(s, first)
		var conflict *storage.Conflict
		require.ErrorAs(s, second, &conflict)
		require.Equal(s, []storage.NameRef{{ProjectID: w.project.UID, Name: "wanted"}}, conflict.ClaimRefs)
	},
	// A transaction that saw a space as empty deletes it while another one carves a pool from it.
	"ContainerCarvedConcurrentlyIsNotDeleted": func(s *suite) {
		w := s.world()
		lab := s.space(w.project, "lab")
		c := storage.SpaceContainer(lab, ipam.IPv4)
		s.write(storage.Changes{SpaceInsert: []ipam.Space{lab}, Free: []storage.FreeChange{insert(c, "0.0.0.0/0")}})
		pool := s.root(lab, "all", "0.0.0.0/0")
		carve := func(ctx context.Context, tx storage.Tx, read func()) error {
			read()
			return tx.Write(ctx, storage.Changes{
				Free: []storage.FreeChange{remove(c, "0.0.0.0/0")}, PoolInsert: []ipam.Pool{pool},
				AllocationInsert: []ipam.Allocation{s.holds(c, "0.0.0.0/0", ipam.PurposeRootPool, pool.Ref())},
			})
		}
		remove := func(ctx context.Context, tx storage.Tx, read func()) error {
			held, err := tx.HeldCount(ctx, c)
			if err != nil {
				return err
			}
			read()
			if held.RootPools > 0 {
				return errUndo
			}
			return tx.Write(ctx, storage.Changes{SpaceDelete: []ipam.Space{lab}, Free: []storage.FreeChange{remove(c, "0.0.0.0/0")}})
		}
		attempts, first, second := s.race(carve, remove)
		require.NoError(s, first)
		require.Same(s, errUndo, second)
		require.Equal(s, 2, attempts)
	},
}

var errNoRoom = errors.New("there is no room")

// firstThenSecond runs a race in which both transactions succeed. The second transaction needs a second attempt.
func (s *suite) firstThenSecond(first, second func(ctx context.Context, tx storage.Tx, read func()) error) {
	s.Helper()
	attempts, firstErr, secondErr := s.race(first, second)
	require.NoError(s, firstErr)
	require.NoError(s, secondErr)
	require.Equal(s, 2, attempts, "the second is told once, and not more often")
}

// race runs two transactions that call read after their reads. Neither continues before both have read. The second transaction continues after the
// end of the first. attempts is the number of attempts of the second transaction.
func (s *suite) race(first, second func(ctx context.Context, tx storage.Tx, read func()) error) (attempts int, firstErr, secondErr error) {
	firstRead, secondRead, firstDone, secondDone := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	await := func(c <-chan struct{}) {
		select {
		case <-c:
		case <-s.ctx.Done(): // a transaction has failed before its read
		}
	}
	var tries int
	var told error
	go func() {
		defer close(secondDone)
		told = s.Store.InTx(s.ctx, "storetest_second", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
			tries++
			return second(ctx, tx, func() {
				if tx.Attempt() > 0 {
					return
				}
				await(firstRead) // neither sees the other's changes
				close(secondRead)
				await(firstDone)
			})
		})
	}()
	runs := 0
	firstErr = s.Store.InTx(s.ctx, "storetest_first", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
		runs++
		return first(ctx, tx, func() {
			if runs > 1 {
				return
			}
			close(firstRead)
			await(secondRead)
		})
	})
	close(firstDone)
	<-secondDone
	return tries, firstErr, told
}
