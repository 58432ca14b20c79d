package realm

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	carve "github.com/carve-ipam/carve/client"
)

// Attach says that a pod uses a claim. It may be said again.
func (r *Realm) Attach(ctx context.Context, claim string, name types.NamespacedName, uid types.UID) error {
	pod := r.Pod(name, uid)
	_, err := r.Carve.AttachConsumer(ctx, r.Project, claim, pod.UID,
		carve.IPConsumerSpec{Kind: pod.Kind, Name: pod.Name, TTLSeconds: pod.TTLSeconds}, carve.AttachConsumerParams{Realm: &r.Name})
	return err
}

// Detach says that a pod does not use a claim any more, whatever else it uses. It may be said again.
func (r *Realm) Detach(ctx context.Context, claim string, uid types.UID) error {
	return r.Carve.DetachConsumer(ctx, r.Project, claim, string(uid), carve.DetachConsumerParams{Realm: &r.Name})
}

// kindLost is what takes a claim over from a pod that lives and is said not to use it.
const kindLost = "Lost"

// Yield takes a claim from a pod that is said not to use it, though the pod lives: a consumer that nobody renews takes its place, and expires after
// some seconds. So the block cools down like those of consumers that were lost, and the pod keeps what else it uses. It may be said again.
func (r *Realm) Yield(ctx context.Context, claim string, uid types.UID) error {
	for c, err := range r.Carve.ClaimConsumers(ctx, r.Project, claim) {
		if carve.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if c.UID != string(uid) || c.Realm != r.Name {
			continue
		}
		ttl, lost := lapse, fmt.Sprintf("lost-%s-%d", claim, time.Now().UnixMilli()) // one that has ended never comes back
		_, err := r.Carve.AttachConsumer(ctx, r.Project, claim, lost,
			carve.IPConsumerSpec{Kind: kindLost, Name: claim, TTLSeconds: &ttl}, carve.AttachConsumerParams{Realm: &r.Name})
		if err != nil {
			return err
		}
		return r.Detach(ctx, claim, uid)
	}
	return nil
}
