package realm

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	carve "github.com/carve-ipam/carve/client"
)

// Attach attaches a pod to a claim as a consumer. A repetition changes nothing.
func (r *Realm) Attach(ctx context.Context, claim string, name types.NamespacedName, uid types.UID) error {
	pod := r.Pod(name, uid)
	_, err := r.Carve.AttachConsumer(ctx, r.Project, claim, pod.UID,
		carve.IPConsumerSpec{Kind: pod.Kind, Name: pod.Name, TTLSeconds: pod.TTLSeconds}, carve.AttachConsumerParams{Realm: &r.Name})
	return err
}

// Detach detaches a pod from a claim. The pod keeps its other claims. A repetition changes nothing.
func (r *Realm) Detach(ctx context.Context, claim string, uid types.UID) error {
	return r.Carve.DetachConsumer(ctx, r.Project, claim, string(uid), carve.DetachConsumerParams{Realm: &r.Name})
}

// kindLost is the kind for the consumer with which Yield replaces a live pod.
const kindLost = "Lost"

// Yield takes a claim from a live pod whose network lacks the claim's address. It replaces the pod by a consumer without renewals, which expires after
// some seconds. The block then cools down like any lost consumer's block. The pod keeps its other claims. A repetition changes nothing.
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
		ttl, lost := lapse, fmt.Sprintf("lost-%s-%d", claim, time.Now().UnixMilli()) // unique, because an ended consumer cannot come back
		_, err := r.Carve.AttachConsumer(ctx, r.Project, claim, lost,
			carve.IPConsumerSpec{Kind: kindLost, Name: claim, TTLSeconds: &ttl}, carve.AttachConsumerParams{Realm: &r.Name})
		if err != nil {
			return err
		}
		return r.Detach(ctx, claim, uid)
	}
	return nil
}
