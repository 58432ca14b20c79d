package claims

import (
	"context"
	"slices"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/judge"
)

// Renewals tell Carve again and again which pods live that use claims. What they go by may be old: a pod that has gone meanwhile is released later, or
// has ended already, which no renewal undoes. The manager runs them where it leads.
type Renewals struct {
	// Of is the reconciler whose pods are renewed.
	Of *Reconciler
	// Every is how often; a pod's time to live is to be twice as long at least.
	Every time.Duration
}

// Start renews until the context ends.
func (r *Renewals) Start(ctx context.Context) error {
	tick := time.NewTicker(r.Every)
	defer tick.Stop()
	for {
		if err := r.renew(ctx); err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "renewing pods")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// renew renews the pods that live, once.
func (r *Renewals) renew(ctx context.Context) error {
	var claims ipam.IPClaimList
	if err := r.Of.Client.List(ctx, &claims); err != nil {
		return err
	}
	var live []string
	for i := range claims.Items {
		claim := &claims.Items[i]
		user := meta.GetControllerOf(claim)
		if !isPod(user) || claim.Status.Claim == nil {
			continue
		}
		var pod core.Pod
		if r.Of.Client.Get(ctx, types.NamespacedName{Namespace: claim.Namespace, Name: user.Name}, &pod) != nil {
			continue // the reconciler finds out what has become of it
		}
		if verdict, _ := judge.Pod(&pod, user.UID, r.Of.Judge); verdict == judge.Keep {
			live = append(live, string(user.UID))
		}
	}
	slices.Sort(live)
	return r.Of.Realm.Renew(ctx, slices.Compact(live))
}
