package nodes

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// introduce has a node be a consumer of Carve.
func (r *Reconciler) introduce(ctx context.Context, name string, uid types.UID) error {
	if r.ours[uid] {
		return nil
	}
	if err := r.Realm.HaveNode(ctx, name, uid); err != nil {
		return err
	}
	r.learn(uid, true)
	return nil
}

func (r *Reconciler) learn(uid types.UID, mine bool) {
	if r.ours == nil {
		r.ours = map[types.UID]bool{}
	}
	r.ours[uid] = mine
}

// meet has all nodes that have a slice be consumers. After a restart they are asked for together.
func (r *Reconciler) meet(ctx context.Context, v *view) error {
	names, uids := map[string]string{}, []string(nil)
	for _, node := range v.wanted {
		if v.slices[node.UID] != nil && !r.ours[node.UID] {
			names[string(node.UID)] = node.Name
			uids = append(uids, string(node.UID))
		}
	}
	const atOnce = 1000
	for some := range slices.Chunk(uids, atOnce) {
		renewed, err := r.Realm.Carve.RenewConsumers(ctx, r.Realm.Project, carve.ConsumerRenewal{Realm: r.Realm.Name, Consumers: some})
		if err != nil {
			return err
		}
		for _, uid := range renewed.Unknown {
			if err := r.introduce(ctx, names[uid], types.UID(uid)); err != nil {
				return err
			}
		}
		for _, uid := range some {
			r.learn(types.UID(uid), true)
		}
	}
	return nil
}

// isOurs says whether a UID is that of a node of this cluster. Others may have slices of the same class.
func (r *Reconciler) isOurs(ctx context.Context, uid types.UID) (bool, error) {
	if mine, known := r.ours[uid]; known {
		return mine, nil
	}
	mine, err := r.Realm.HadNode(ctx, uid)
	if err == nil {
		r.learn(uid, mine)
	}
	return mine, err
}

// Renewals tell Carve again and again which nodes live. What they go by may be old: that delays, and nothing else. The manager runs them where it leads.
type Renewals struct {
	// Of is the reconciler whose nodes are renewed.
	Of *Reconciler
	// Every is how often; a node's time to live is to be twice as long at least.
	Every time.Duration
}

// Start renews until the context ends.
func (r *Renewals) Start(ctx context.Context) error {
	tick := time.NewTicker(r.Every)
	defer tick.Stop()
	for {
		if err := r.renew(ctx); err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "renewing nodes")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// renew renews all nodes, once. Who has no NodeSlicePool makes no call.
func (r *Renewals) renew(ctx context.Context) error {
	var pools ipam.NodeSlicePoolList
	if err := r.Of.Client.List(ctx, &pools); err != nil || len(pools.Items) == 0 {
		return err
	}
	nodes := nodeList()
	if err := r.Of.Client.List(ctx, nodes); err != nil {
		return err
	}
	var live []string
	for i := range nodes.Items {
		live = append(live, string(nodes.Items[i].UID))
	}
	_, err := r.Of.Realm.Renew(ctx, live) // those that have ended stay so
	return err
}
