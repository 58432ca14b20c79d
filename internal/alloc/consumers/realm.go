package consumers

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// realmKept is how long the database keeps a realm's confirmation.
const realmKept = 30 * 24 * time.Hour

// GetRealm counts a realm's live and expired consumers in this server's region. It also reports whether the breaker holds the realm.
func (s *Consumers) GetRealm(ctx context.Context, project, realm string) (ipam.Realm, error) {
	_, in, err := s.Enter(ctx, tenancy.ConsumersRead, project)
	if err != nil {
		return ipam.Realm{}, err
	}
	return s.realm(ctx, in, realm)
}

func (s *Consumers) realm(ctx context.Context, in storage.ProjectKey, realm string) (out ipam.Realm, err error) {
	out = ipam.Realm{Project: in.Name, Name: realm}
	now := s.Now()
	if out.RealmState, err = s.Store.RealmGet(ctx, in.ID, realm); err != nil {
		return out, err
	}
	if out.Live, _, err = s.Store.RealmCount(ctx, in.ID, realm, now, now); err != nil {
		return out, err
	}
	out.Expired, err = s.Store.RealmExpired(ctx, in.ID, realm, now)
	return out, err
}

// realmLocks returns the locks for a transaction that reads and stores a realm's state. These locks keep other transactions from changing the state
// between the read and the write.
func realmLocks(realm storage.RealmKey) storage.Locks {
	return storage.Locks{Shared: []ipam.ID{realm.ProjectID}, Exclusive: []ipam.ID{ipam.DerivedID(realm.ProjectID, "realm "+realm.Name)}}
}

// ConfirmExpiry confirms that all the realm's consumers that have expired by now really are gone. Carve then ends them, even if they are many.
func (s *Consumers) ConfirmExpiry(ctx context.Context, project, realm string, r usecase.Request) (ipam.Realm, error) {
	_, in, err := s.Enter(ctx, tenancy.RealmsConfirm, project)
	if err != nil {
		return ipam.Realm{}, err
	}
	key := storage.RealmKey{ProjectID: in.ID, Name: realm}
	event := trail.Attempt(ctx, s.Now(), in.ID, trail.KindRealm, realm)
	_, err = usecase.RunWithReadBack(ctx, s.Core, "realm_confirm", realmLocks(key), r.DryRun, func(ctx context.Context, tx storage.Tx) (none struct{}, err error) {
		if err := usecase.CheckProjectExists(ctx, tx, in); err != nil {
			return none, err
		}
		others, err := tx.CountOtherRealms(ctx, key, tx.Now().Add(-realmKept))
		if err != nil {
			return none, err
		}
		if others >= storage.MaxRealms {
			return none, usecase.ProjectFull(in.Name, "confirmed realm", storage.MaxRealms, fmt.Sprintf(
				"Confirm one of these realms again, or wait until the oldest confirmation is %d days old.", int(realmKept.Hours())/24))
		}
		state := ipam.RealmState{ConfirmedUntil: tx.Now()}
		e, err := trail.Effected(event, nil, &trail.Record{Because: string(ipam.ReasonExpired)})
		if err != nil {
			return none, err
		}
		ch := storage.Changes{Events: []ipam.Event{e}}
		regions, err := tx.RegionsOf(ctx, in.ID)
		if err != nil {
			return none, err
		}
		for _, region := range regions {
			ch.RealmForget = append(ch.RealmForget, storage.RealmForget{ProjectID: in.ID, Region: region, Since: tx.Now().Add(-realmKept)})
			ch.RealmPut = append(ch.RealmPut, storage.RealmPut{RealmKey: key, Region: region, Now: state})
		}
		return none, tx.Write(ctx, ch)
	}, func(context.Context) (none struct{}, found bool, err error) { return none, false, nil })
	if err != nil {
		return ipam.Realm{}, err
	}
	return s.realm(ctx, in, realm)
}

// putRealm records that the breaker holds a realm, and adds an event to the project's trail. It reports whether it changed the state.
func (s *Consumers) putRealm(ctx context.Context, realm storage.RealmKey, state ipam.RealmState) (bool, error) {
	event := ipam.Event{ID: ipam.NewTimeID(state.HeldSince), ProjectID: realm.ProjectID, At: state.HeldSince, Subject: Keeper, Kind: trail.KindRealm, Name: realm.Name}
	return s.changeRealm(ctx, realm, func(was ipam.RealmState) (ipam.RealmState, *ipam.Event, error) {
		if !was.HeldSince.IsZero() || !was.ConfirmedUntil.Equal(state.ConfirmedUntil) { // another server or an admin was faster
			return was, nil, nil
		}
		was.HeldSince = state.HeldSince
		e, err := trail.Effected(event, nil, &trail.Record{Phase: "Held", Because: string(ipam.ReasonExpired)})
		return was, &e, err
	})
}

// closeBreakers ends the hold of each realm that has no expired consumers left. Here, an expired consumer counts even if this server may not end it
// yet.
func (s *Consumers) closeBreakers(ctx context.Context, before time.Time) error {
	held, err := s.Store.RealmsHeld(ctx, ipam.ID{}, expirePage)
	for _, realm := range held {
		var left []ipam.Consumer
		if err == nil {
			left, err = s.Store.ConsumerDueList(ctx, realm.ProjectID, realm.Name, storage.Expiry{Before: before, MaxTTL: math.MaxInt64}, 1)
		}
		if err == nil && len(left) == 0 {
			err = s.closeBreaker(ctx, realm)
		}
	}
	return err
}

func (s *Consumers) closeBreaker(ctx context.Context, realm storage.RealmKey) error {
	_, err := s.changeRealm(ctx, realm, func(was ipam.RealmState) (ipam.RealmState, *ipam.Event, error) {
		was.HeldSince = ipam.RealmState{}.HeldSince
		return was, nil, nil
	})
	return err
}

// changeRealm replaces a realm's stored state, and reports whether it did. It does nothing if the project no longer exists.
func (s *Consumers) changeRealm(ctx context.Context, realm storage.RealmKey, change func(was ipam.RealmState) (ipam.RealmState, *ipam.Event, error)) (did bool, err error) {
	return usecase.InTx(ctx, s.Core, "realm_change", realmLocks(realm), false, func(ctx context.Context, tx storage.Tx) (did bool, err error) {
		if there, err := tx.ProjectKeys(ctx, []ipam.ID{realm.ProjectID}); err != nil || len(there) == 0 {
			return false, err
		}
		was, err := tx.RealmGet(ctx, realm.ProjectID, realm.Name)
		if err != nil {
			return false, err
		}
		next, event, err := change(was)
		if err != nil || next == was {
			return false, err
		}
		ch := storage.Changes{}
		if event != nil {
			ch.Events = []ipam.Event{*event}
		}
		ch.RealmForget = []storage.RealmForget{{ProjectID: realm.ProjectID, Region: s.Region, Since: tx.Now().Add(-realmKept)}}
		ch.RealmPut = []storage.RealmPut{{RealmKey: realm, Region: s.Region, Now: next}}
		return true, tx.Write(ctx, ch)
	})
}
