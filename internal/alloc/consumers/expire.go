package consumers

import (
	"context"
	"errors"
	"maps"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/internal/alloc/attach"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// The breaker protects a realm against the loss of many consumers at once. Such a loss is more often a fault of the clients than a real loss. The
// breaker holds a realm that loses more than breakerLost consumers, and at least one in breakerShare, within breakerWindow. This means that Carve
// ends no more consumers in this realm. The hold ends when an admin confirms the loss, or when the clients renew the consumers.
//
// The breaker counts over a window and not over one pass, because renewals, and therefore expiries, are spread over time.
const (
	breakerLost   = 20
	breakerShare  = 10
	breakerWindow = 10 * time.Minute
)

// countExpiredEvery is the interval between two counts in a held realm. Each count reads all expired consumers, so it is expensive.
const countExpiredEvery = 10 * time.Second

// expirePage is the largest number of consumers that one transaction ends.
const expirePage = 200

// Expiries is a pass's result.
type Expiries struct {
	Expired int                // expired consumers that were ended
	Drained int                // ended consumers that no longer have attachments
	Opened  []storage.RealmKey // realms that the breaker began to hold in this pass
}

// ExpireConsumers ends expired consumers, and detaches ended consumers from their claims. Several servers may run it at the same time. It may stop
// between any two transactions, because the tables show the remaining work. A failure for one realm or consumer does not delay the others.
func (s *Consumers) ExpireConsumers(ctx context.Context) (done Expiries, err error) {
	s.passing.Lock()
	defer s.passing.Unlock()
	by := storage.Expiry{Before: s.Now().Add(-margin), MaxTTL: s.serving.longestTTL(s.Ticks())}
	due, next, err := s.Store.ConsumersDue(ctx, by, s.from)
	if err != nil {
		return done, err
	}
	s.from = next
	was := s.serving.last
	s.serving.beat(s.Ticks())
	if s.serving.since.After(was) { // this server had a gap in its service, so the TTL limit in the query no longer applies
		due = nil
	}
	maps.DeleteFunc(s.judged, func(_ storage.RealmKey, at time.Time) bool { return s.Ticks().Sub(at) >= countExpiredEvery })
	var errs []error
	for _, realm := range due {
		n, opened, err := s.expireRealm(ctx, realm, by)
		if err == nil {
			s.serving.beat(s.Ticks())
		}
		if done.Expired += n; opened {
			done.Opened = append(done.Opened, realm)
		}
		errs = append(errs, err)
	}
	errs = append(errs, s.closeBreakers(ctx, by.Before), s.countFullProjects(ctx))
	done.Drained, err = s.drainAll(ctx)
	s.serving.beat(s.Ticks())
	return done, errors.Join(append(errs, err)...)
}

// countEvery is the interval between two counts in projects that may have reached the maximum number of consumers.
const countEvery = time.Minute

func (s *Consumers) countFullProjects(ctx context.Context) error {
	projects := s.ConsumerLimits.Pending()
	if len(projects) == 0 || s.Ticks().Sub(s.counted) < countEvery {
		return nil
	}
	s.counted = s.Ticks()
	full, err := s.Store.ProjectsCrowded(ctx, projects, storage.MaxConsumers)
	if err == nil {
		s.ConsumerLimits.Record(projects, full)
	}
	return err
}

// expireRealm ends a realm's expired consumers, unless the breaker holds the realm.
func (s *Consumers) expireRealm(ctx context.Context, realm storage.RealmKey, by storage.Expiry) (ended int, opened bool, err error) {
	state, err := s.Store.RealmGet(ctx, realm.ProjectID, realm.Name)
	if err != nil {
		return 0, false, err
	}
	if until := state.ConfirmedUntil; !until.IsZero() && until.Before(by.Before) {
		if ended, err = s.expireAll(ctx, realm, storage.Expiry{Before: until, MaxTTL: by.MaxTTL}); err != nil {
			return ended, false, err
		}
	}
	var left int64
	held := !state.HeldSince.IsZero()
	if held { // count all expired consumers, even those that this server may not end yet, because they all must decide about the hold
		if _, lately := s.judged[realm]; lately {
			return ended, false, nil
		}
		s.judged[realm] = s.Ticks()
		left, err = s.Store.RealmExpired(ctx, realm.ProjectID, realm.Name, by.Before)
	} else {
		left, err = s.Store.RealmDue(ctx, realm, by)
	}
	if err != nil || left == 0 {
		return ended, false, err
	}
	live, lost, err := s.Store.RealmCount(ctx, realm.ProjectID, realm.Name, s.Now().Add(-breakerWindow), state.ConfirmedUntil)
	if err != nil {
		return ended, false, err
	}
	if lost+left > breakerLost && (lost+left)*breakerShare >= live+lost {
		if held {
			return ended, false, nil
		}
		state.HeldSince = s.Now()
		if opened, err = s.putRealm(ctx, realm, state); opened {
			s.Metrics.RealmHeld(ctx)
		}
		return ended, opened, err
	}
	n, err := s.expireAll(ctx, realm, by)
	if err == nil && held {
		err = s.closeBreaker(ctx, realm)
	}
	return ended + n, false, err
}

// expireAll ends all expired consumers in a realm, expirePage in each transaction.
func (s *Consumers) expireAll(ctx context.Context, realm storage.RealmKey, by storage.Expiry) (ended int, err error) {
	for {
		n, err := s.expireSome(ctx, realm, by)
		ended += n
		s.serving.beat(s.Ticks())
		if err != nil || n < expirePage {
			return ended, err
		}
	}
}

// expireSome ends up to expirePage expired consumers in one transaction. If a consumer is renewed meanwhile, the transaction runs again.
func (s *Consumers) expireSome(ctx context.Context, realm storage.RealmKey, by storage.Expiry) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, usecase.GroupDeadline)
	defer cancel()
	n, err := usecase.InTx(ctx, s.Core, "consumer_expire", storage.Locks{Shared: []ipam.ID{realm.ProjectID}}, false, func(ctx context.Context, tx storage.Tx) (int, error) {
		list, err := tx.ConsumerDueList(ctx, realm.ProjectID, realm.Name, by, expirePage)
		if err != nil {
			return 0, err
		}
		var ch storage.Changes
		at := tx.Now()
		event := ipam.Event{At: at, Subject: Keeper}
		for _, c := range list {
			next := c.Ended(at, ipam.ReasonExpired)
			next.Revision, next.UpdatedAt = ipam.DerivedID(c.Revision, "expired"), at
			e, err := attach.Recorded(event, &c, &next)
			if err != nil {
				return 0, err
			}
			ch.Events = append(ch.Events, e)
			ch.ConsumerUpdate = append(ch.ConsumerUpdate, storage.ConsumerUpdate{Was: c.Revision, Now: next})
		}
		return len(list), tx.Write(ctx, ch)
	})
	if err == nil && n > 0 {
		s.Metrics.ConsumersEnded(ctx, ipam.ReasonExpired, n)
	}
	return n, err
}

// drainAll detaches all ended consumers from their claims, drainParallel consumers at a time.
func (s *Consumers) drainAll(ctx context.Context) (done int, err error) {
	var errs []error
	for after := (time.Time{}); ; {
		list, err := s.Store.ConsumersDraining(ctx, after, expirePage)
		if err != nil || len(list) == 0 {
			return done, errors.Join(append(errs, err)...)
		}
		n, err := s.drainSome(ctx, list)
		if done, errs = done+n, append(errs, err); err != nil { // skip this page, because some of its consumers fail now
			after = list[len(list)-1].EndedAt
		}
		s.serving.beat(s.Ticks())
	}
}

func (s *Consumers) drainSome(ctx context.Context, list []ipam.Consumer) (int, error) {
	ids := make([]ipam.ID, len(list))
	for i, c := range list {
		ids[i] = c.ProjectID
	}
	keys, err := s.Store.ProjectKeys(ctx, ids)
	if err != nil {
		return 0, err
	}
	names := make(map[ipam.ID]storage.ProjectKey, len(keys))
	for _, k := range keys {
		names[k.ID] = k
	}
	errs, drained := make([]error, len(list)), map[ipam.ID][]ipam.Consumer{}
	var g errgroup.Group
	g.SetLimit(drainParallel)
	for i, c := range list {
		g.Go(func() error {
			within, cancel := context.WithTimeout(ctx, usecase.GroupDeadline)
			defer cancel()
			at := s.Now()
			event := ipam.Event{ID: ipam.NewTimeID(at), ProjectID: c.ProjectID, At: at, Subject: Keeper, Kind: trail.KindClaim}
			errs[i] = s.drain(within, names[c.ProjectID], c, event)
			return nil
		})
	}
	_ = g.Wait()
	n := 0
	for i, c := range list {
		if errs[i] == nil {
			drained[c.ProjectID] = append(drained[c.ProjectID], c)
			n++
		}
	}
	err = errors.Join(errs...)
	for _, of := range drained {
		err = errors.Join(err, s.recordDrained(ctx, of))
	}
	return n, err
}
