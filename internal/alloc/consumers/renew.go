package consumers

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// MaxRenewals is the largest number of consumers in one renewal.
const MaxRenewals = 1000

// Renewals asks to renew consumers of a realm.
type Renewals struct {
	Realm string
	TTL   *time.Duration // from now on; nil: the one that each has
	UIDs  []string
}

// Renewed is what came of renewals, each UID in one of them, in the order in which they were given.
type Renewed struct{ Renewed, Ended, Unknown []string }

func (w Renewals) check() error {
	if len(w.UIDs) == 0 || len(w.UIDs) > MaxRenewals {
		return ipam.Invalid("/consumers", "must hold 1 to %d UIDs; it holds %d.", MaxRenewals, len(w.UIDs))
	}
	first := ipam.NewConsumer{Ref: ipam.ConsumerRef{Realm: w.Realm}}
	if w.TTL != nil {
		first.Spec.TTL = *w.TTL
	}
	for i, uid := range w.UIDs {
		first.Ref.UID = uid
		if err := first.Check("", "/consumers/"+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}

// RenewConsumers renews many consumers at once, and says of each whether it was renewed, has ended or is not known. Who has ended does not come back. It is
// a heartbeat and an inventory in one: nobody ends for not being listed, but for not being renewed in time.
func (s *Consumers) RenewConsumers(ctx context.Context, project string, w Renewals, r usecase.Request) (Renewed, error) {
	_, in, err := s.Enter(ctx, tenancy.ConsumersWrite, project)
	if err != nil {
		return Renewed{}, err
	}
	if err := w.check(); err != nil {
		return Renewed{}, err
	}
	if err := tenancy.BudgetOf(ctx).Charge(tenancy.Work{Rows: len(w.UIDs)}); err != nil {
		return Renewed{}, err
	}
	revision := ipam.NewID()
	// That a renewal may run again harms nobody: it is about what lives when it does.
	return usecase.Settled(ctx, s.Core, "consumer_renew", storage.Locks{Shared: []ipam.ID{in.ID}}, r.DryRun, func(ctx context.Context, tx storage.Tx) (Renewed, error) {
		return renew(ctx, tx, in, w, revision)
	}, func(context.Context) (Renewed, bool, error) { return Renewed{}, false, nil })
}

func renew(ctx context.Context, tx storage.Tx, in storage.ProjectKey, w Renewals, revision ipam.ID) (out Renewed, err error) {
	uids := slices.Compact(slices.Sorted(slices.Values(w.UIDs)))
	refs := make([]ipam.ConsumerRef, len(uids))
	for i, uid := range uids {
		refs[i] = ipam.ConsumerRef{Realm: w.Realm, UID: uid}
	}
	found, err := tx.ConsumersNamed(ctx, in.ID, refs)
	if err != nil {
		return out, err
	}
	known, live := make(map[string]bool, len(found)), map[string][]string{}
	for _, c := range found {
		if known[c.Name] = c.Live(); c.Live() {
			live[c.Region] = append(live[c.Region], c.Name)
		}
	}
	for _, uid := range uids {
		switch lives, there := known[uid]; {
		case lives:
			out.Renewed = append(out.Renewed, uid)
		case there:
			out.Ended = append(out.Ended, uid)
		default:
			out.Unknown = append(out.Unknown, uid)
		}
	}
	var ch storage.Changes
	for region, list := range live {
		slices.Sort(list)
		ch.ConsumerRenew = append(ch.ConsumerRenew, storage.Renewal{
			Region: region, ProjectID: in.ID, Realm: w.Realm, UIDs: list, Revision: revision, At: tx.Now(), TTL: w.TTL,
		})
	}
	slices.SortFunc(ch.ConsumerRenew, func(a, b storage.Renewal) int { return strings.Compare(a.Region, b.Region) })
	return out, tx.Write(ctx, ch)
}
