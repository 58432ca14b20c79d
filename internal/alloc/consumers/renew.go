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

// MaxRenewals is the largest number of consumers in one request to renew.
const MaxRenewals = 1000

// Renewals is a request to renew consumers in a realm.
type Renewals struct {
	Realm string
	TTL   *time.Duration // new TTL; nil: keep each consumer's own
	UIDs  []string
}

// Renewed is the result of a Renewals request. Each UID is in exactly one list. Each list is sorted by UID.
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

// RenewConsumers renews many consumers at once. For each consumer, it returns whether the consumer was renewed, has ended or is unknown. A renewal
// does not revive an ended consumer. A consumer that is not in the list stays live until its own TTL is over.
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
	return usecase.RunWithReadBack(ctx, s.Core, "consumer_renew", storage.Locks{Shared: []ipam.ID{in.ID}}, r.DryRun, func(ctx context.Context, tx storage.Tx) (Renewed, error) {
		return renew(ctx, tx, in, w, revision)
	}, func(ctx context.Context) (Renewed, bool, error) {
		found, err := s.Store.ConsumersNamed(ctx, in.ID, w.refs())
		return w.outcome(found), slices.ContainsFunc(found, func(c ipam.Consumer) bool { return c.Revision == revision }), err
	})
}

// refs returns the distinct consumers, ordered by UID.
func (w Renewals) refs() []ipam.ConsumerRef {
	uids := slices.Compact(slices.Sorted(slices.Values(w.UIDs)))
	refs := make([]ipam.ConsumerRef, len(uids))
	for i, uid := range uids {
		refs[i] = ipam.ConsumerRef{Realm: w.Realm, UID: uid}
	}
	return refs
}

// outcome sorts the UIDs into the result's lists, by the consumers found.
func (w Renewals) outcome(found []ipam.Consumer) (out Renewed) {
	known := make(map[string]bool, len(found))
	for _, c := range found {
		known[c.Name] = c.Live()
	}
	for _, ref := range w.refs() {
		switch lives, there := known[ref.UID]; {
		case lives:
			out.Renewed = append(out.Renewed, ref.UID)
		case there:
			out.Ended = append(out.Ended, ref.UID)
		default:
			out.Unknown = append(out.Unknown, ref.UID)
		}
	}
	return out
}

func renew(ctx context.Context, tx storage.Tx, in storage.ProjectKey, w Renewals, revision ipam.ID) (Renewed, error) {
	found, err := tx.ConsumersNamed(ctx, in.ID, w.refs())
	if err == nil && len(found) == 0 { // perhaps the project has been deleted
		err = usecase.CheckProjectExists(ctx, tx, in)
	}
	if err != nil {
		return Renewed{}, err
	}
	live := map[string][]string{}
	for _, c := range found {
		if c.Live() {
			live[c.Region] = append(live[c.Region], c.Name)
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
	return w.outcome(found), tx.Write(ctx, ch)
}
