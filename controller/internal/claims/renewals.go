package claims

import (
	"context"
	"slices"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/podstate"
)

// Renewals renews live pods that use claims, at intervals. It reads from the cache, which may be old, so it may renew a pod that is already gone.
// Carve then releases that pod's claims a little later. A renewal does not revive a consumer that has ended. The manager runs it on the leader.
type Renewals struct {
	// Of is the reconciler with the pods to renew.
	Of *Reconciler
	// Every is the interval. A pod's time to live has to be at least twice as long.
	Every time.Duration
}

// Start renews until the context ends.
func (r *Renewals) Start(ctx context.Context) error {
	return repeat(ctx, r.Every, "cannot renew pods", r.renew)
}

// repeat calls do at once and then at intervals, until the context ends. After a failure it waits one minute at most.
func repeat(ctx context.Context, every time.Duration, what string, do func(context.Context) error) error {
	for {
		pause := every
		if err := do(ctx); err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, what)
			pause = min(every, maxRetryPause)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// renew renews the live pods once. If Carve newly refuses a pod, or accepts a pod that it refused before, renew has the pod's claims reconciled.
func (r *Renewals) renew(ctx context.Context) error {
	var claims ipam.IPClaimList
	if err := r.Of.Client.List(ctx, &claims); err != nil {
		return err
	}
	users := map[types.UID][]types.NamespacedName{}
	var live []string
	for i := range claims.Items {
		claim := &claims.Items[i]
		if claim.Status.Claim == nil {
			continue
		}
		for _, user := range usersOf(claim) {
			var pod core.Pod
			if r.Of.Client.Get(ctx, types.NamespacedName{Namespace: claim.Namespace, Name: user.Name}, &pod) != nil {
				continue // the reconciler judges a missing pod
			}
			if verdict, _ := podstate.Assess(&pod, user.UID, r.Of.Judge); verdict == podstate.Keep {
				live = append(live, string(user.UID))
				users[user.UID] = append(users[user.UID], client.ObjectKeyFromObject(claim))
			}
		}
	}
	slices.Sort(live)
	refused, err := r.Of.Realm.Renew(ctx, slices.Compact(live))
	if err != nil {
		return err
	}
	for _, uid := range r.Of.ended.set(refused) {
		for _, name := range users[uid] {
			r.Of.feed.reconcile(ctx, name)
		}
	}
	return nil
}

// usersOf returns the pods that may use a claim.
func usersOf(claim *ipam.IPClaim) []ipam.PodReference {
	if user := PodOf(claim); user != nil {
		return []ipam.PodReference{{Name: user.Name, UID: user.UID}}
	}
	return claim.Status.ReservedFor
}
