package claims

import (
	"context"
	"sync/atomic"
	"time"

	condition "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	carve "github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/client/follow"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
)

// feed follows the claims that Carve holds for a realm. If an IPClaim's status differs from its claim in Carve, the feed has the IPClaim reconciled.
// When Carve releases a block, the feed also retries claims that found no room. The manager runs it on the leader.
type feed struct {
	of   *Reconciler
	wake chan event.GenericEvent
	held atomic.Pointer[follow.Cache[carve.IPClaim]]
}

func newFeed(of *Reconciler) *feed { return &feed{of: of, wake: make(chan event.GenericEvent, 1024)} }

// unavailable is the pause after an error that ends the feed.
const unavailable = 30 * time.Second

// Start follows the claims until the context ends.
func (f *feed) Start(ctx context.Context) error {
	for ctx.Err() == nil {
		source := follow.Claims(f.of.Realm.Carve, f.of.Realm.Project, realmLabel+"="+f.of.Realm.Name)
		told := source.Changes
		source.Changes = func(ctx context.Context, after carve.ChangesCursor, seconds int) (*carve.ChangeList, error) {
			list, err := told(ctx, after, seconds)
			if err == nil {
				f.deleted(ctx, list)
			}
			return list, err
		}
		cache := follow.NewCache(source, func(e follow.Event[carve.IPClaim]) { f.compare(ctx, e.Name) }, func(err error) {
			ctrl.LoggerFrom(ctx).Error(err, "cannot follow the claims of the realm")
		})
		f.held.Store(cache)
		_ = cache.Run(ctx) // the cache has logged its error
		select {
		case <-ctx.Done():
		case <-time.After(unavailable):
		}
	}
	return nil
}

// settled is a time after which the controller's Kubernetes cache contains the controller's own writes.
const settled = 5 * time.Second

// deleted compares the IPClaim of each claim that was deleted in Carve. It also retries claims that wait for room. It handles deletions in all
// realms, because each deletion may make room. The feed's cache does not suffice, because it never sees a claim that is created and deleted between
// two responses. The IPClaim's new status may reach the Kubernetes cache after the deletion, so deleted compares a second time.
func (f *feed) deleted(ctx context.Context, list *carve.ChangeList) {
	room := false
	for _, c := range list.Items {
		if c.Type != carve.ChangeTypeDelete {
			continue
		}
		room = true
		f.compare(ctx, c.Name)
		time.AfterFunc(settled, func() {
			if ctx.Err() == nil {
				f.compare(ctx, c.Name)
			}
		})
	}
	if room {
		f.room(ctx)
	}
}

// synced reports whether the cache has received all claims that existed at its start.
func (f *feed) synced() bool {
	cache := f.held.Load()
	if cache == nil {
		return false
	}
	select {
	case <-cache.Synced():
		return true
	default:
		return false
	}
}

// holds reports whether the feed's cache has the block that a claim's status names.
func (f *feed) holds(claim *ipam.IPClaim) bool {
	held, there := f.held.Load().Get(claim.Status.Claim.Name)
	return there && differs(claim, &held, f.of.Realm.Name) == ""
}

// compare takes the name of a claim in Carve. If the status of the IPClaim differs from the feed or is stalled, compare has the IPClaim reconciled.
// An empty name means all claims.
func (f *feed) compare(ctx context.Context, name string) {
	var claims ipam.IPClaimList
	var which []client.ListOption
	if name != "" {
		which = append(which, client.MatchingFields{ByRemoteName: name})
	}
	if err := f.of.Client.List(ctx, &claims, which...); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot read a changed claim from Carve", "claim", name)
		return
	}
	for i := range claims.Items {
		claim := &claims.Items[i]
		if claim.Status.Claim != nil && (!f.holds(claim) || condition.IsStatusConditionTrue(claim.Status.Conditions, conditions.Stalled)) {
			f.reconcile(ctx, client.ObjectKeyFromObject(claim))
		}
	}
}

// roomFor is the maximum number of claims to retry after a release. If the feed retried more claims, most would find no room again.
const roomFor = 32

func (f *feed) room(ctx context.Context) {
	for _, name := range f.of.short.take(roomFor) {
		f.reconcile(ctx, name)
	}
}

// reconcile queues a claim for the reconciler.
func (f *feed) reconcile(ctx context.Context, name types.NamespacedName) {
	claim := &ipam.IPClaim{}
	claim.Namespace, claim.Name = name.Namespace, name.Name
	select {
	case f.wake <- event.GenericEvent{Object: claim}:
	case <-ctx.Done():
	}
}
