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
	"github.com/carve-ipam/carve/controller/internal/judge"
)

// Renewals tell Carve again and again which pods live that use claims. What they go by may be old: a pod that has gone meanwhile is released later,
// or has ended already, which no renewal undoes. The manager runs them where it leads.
type Renewals struct {
	// Of is the reconciler whose pods are renewed.
	Of *Reconciler
	// Every is how often; a pod's time to live is to be twice as long at least.
	Every time.Duration
}

// Start renews until the context ends.
func (r *Renewals) Start(ctx context.Context) error {
	return repeat(ctx, r.Every, "renewing pods", r.renew)
}

// repeat does something at once, and again and again until the context ends. After a failure it does not wait for longer than a minute.
func repeat(ctx context.Context, every time.Duration, what string, do func(context.Context) error) error {
	for {
		pause := every
		if err := do(ctx); err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, what)
			pause = min(every, atMost)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// renew renews the pods that live, once. The claims of those that Carve does not take for alive are looked at.
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
				continue // the reconciler finds out what has become of it
			}
			if verdict, _ := judge.Pod(&pod, user.UID, r.Of.Judge); verdict == judge.Keep {
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
			r.Of.feed.look(ctx, name)
		}
	}
	return nil
}

// usersOf answers the pods that may use a claim.
func usersOf(claim *ipam.IPClaim) []ipam.PodReference {
	if user := PodOf(claim); user != nil {
		return []ipam.PodReference{{Name: user.Name, UID: user.UID}}
	}
	return claim.Status.ReservedFor
}
