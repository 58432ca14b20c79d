package consumers

import (
	"context"
	"math"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// realmKept is for how long what was confirmed of a realm is stored.
const realmKept = 30 * 24 * time.Hour

// GetRealm answers how many consumers of a realm live in the region of this server, how many of them have expired, and whether those are ended.
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

// realmLocks are those of whoever stores anything of a realm: what it has read of that does not change meanwhile.
func realmLocks(realm storage.RealmKey) storage.Locks {
	return storage.Locks{Shared: []ipam.ID{realm.ProjectID}, Alone: []ipam.ID{ipam.DerivedID(realm.ProjectID, "realm "+realm.Name)}}
}

// ConfirmExpiry confirms that all those consumers of a realm are gone that have expired until now: they are ended, however many.
func (s *Consumers) ConfirmExpiry(ctx context.Context, project, realm string, r usecase.Request) (ipam.Realm, error) {
	_, in, err := s.Enter(ctx, tenancy.RealmsConfirm, project)
	if err != nil {
		return ipam.Realm{}, err
	}
	key := storage.RealmKey{ProjectID: in.ID, Name: realm}
	event := trail.Attempt(ctx, s.Now(), in.ID, trail.KindRealm, realm)
	_, err = usecase.Settled(ctx, s.Core, "realm_confirm", realmLocks(key), r.DryRun, func(ctx context.Context, tx storage.Tx) (none struct{}, err error) {
		if err := usecase.StillThere(ctx, tx, in); err != nil {
			return none, err
		}
		others, err := tx.RealmOthers(ctx, key, tx.Now().Add(-realmKept))
		if err != nil {
			return none, err
		}
		if others >= storage.MaxRealms {
			return none, ipam.Invalid("path:realm", "would be one more than the %d realms of a project, at most, whose expiry can be confirmed within %d days.",
				storage.MaxRealms, int(realmKept.Hours())/24)
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

// putRealm notes that nobody of a realm is ended from now on, and tells the project so. It answers whether that was news.
func (s *Consumers) putRealm(ctx context.Context, realm storage.RealmKey, state ipam.RealmState) (bool, error) {
	event := ipam.Event{ID: ipam.NewTimeID(state.HeldSince), ProjectID: realm.ProjectID, At: state.HeldSince, Subject: Keeper, Kind: trail.KindRealm, Name: realm.Name}
	return s.changeRealm(ctx, realm, func(was ipam.RealmState) (ipam.RealmState, *ipam.Event, error) {
		if !was.HeldSince.IsZero() || !was.ConfirmedUntil.Equal(state.ConfirmedUntil) { // another server was quicker, or an admin
			return was, nil, nil
		}
		was.HeldSince = state.HeldSince
		e, err := trail.Effected(event, nil, &trail.Record{Phase: "Held", Because: string(ipam.ReasonExpired)})
		return was, &e, err
	})
}

// closeBreakers lets those realms go on in which nobody who has expired is left, not even one whom this server may not judge yet.
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

// changeRealm replaces what is stored of a realm, unless its project is gone, and answers whether it did.
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
