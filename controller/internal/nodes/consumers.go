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

// ensureConsumers makes one node a consumer in Carve, unless the controller already knows it as a consumer.
func (r *Reconciler) ensureConsumers(ctx context.Context, name string, uid types.UID) error {
	if r.ours[uid] {
		return nil
	}
	if err := r.Realm.HaveNode(ctx, name, uid); err != nil {
		return err
	}
	r.readConsumers(uid, true)
	return nil
}

func (r *Reconciler) readConsumers(uid types.UID, mine bool) {
	if r.ours == nil {
		r.ours = map[types.UID]bool{}
	}
	r.ours[uid] = mine
}

// ensureConsumer makes all nodes with a slice consumers. It checks only nodes that it does not know as consumers, in batches. After a restart these
// are all nodes.
func (r *Reconciler) ensureConsumer(ctx context.Context, v *view) error {
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
			if err := r.ensureConsumers(ctx, names[uid], types.UID(uid)); err != nil {
				return err
			}
		}
		for _, uid := range some {
			r.readConsumers(types.UID(uid), true)
		}
	}
	return nil
}

// isOurs reports whether a UID belongs to one of this cluster's nodes. Other clusters may have slices in the same class.
func (r *Reconciler) isOurs(ctx context.Context, uid types.UID) (bool, error) {
	if mine, known := r.ours[uid]; known {
		return mine, nil
	}
	mine, err := r.Realm.HadNode(ctx, uid)
	if err == nil {
		r.readConsumers(uid, mine)
	}
	return mine, err
}

// Renewals renews the cluster's nodes at intervals. It reads from the cache. An old cache only delays a renewal or an expiry. The manager runs it on
// the leader.
type Renewals struct {
	// Of is the reconciler with the nodes to renew.
	Of *Reconciler
	// Every is the interval. A node's time to live has to be at least twice as long.
	Every time.Duration
}

// Start renews until the context ends.
func (r *Renewals) Start(ctx context.Context) error {
	tick := time.NewTicker(r.Every)
	defer tick.Stop()
	for {
		if err := r.renew(ctx); err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "cannot renew nodes")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// renew renews all nodes once. If there is no NodeSlicePool, it makes no call.
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
	_, err := r.Of.Realm.Renew(ctx, live) // a renewal does not revive a node that has ended
	return err
}
