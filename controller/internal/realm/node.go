package realm

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"

	carve "github.com/carve-ipam/carve/client"
)

const kindNode = "Node"

// HaveNode makes a node a consumer under its UID. The node needs no claim. HaveNode does not revive a node that has ended.
func (r *Realm) HaveNode(ctx context.Context, name string, uid types.UID) error {
	ttl := int64(r.TTL / time.Second)
	spec := carve.IPConsumerSpec{Kind: kindNode, Name: Shown(types.NamespacedName{Name: name}), TTLSeconds: &ttl}
	_, err := r.Carve.PutConsumer(ctx, r.Project, r.Name, string(uid), carve.IPConsumerPut{Spec: spec})
	if errors.Is(err, carve.ProblemCodeConsumerEnded) {
		return nil
	}
	return err
}

// HadNode reports whether a UID belongs to a node in this cluster, even if the node has ended.
func (r *Realm) HadNode(ctx context.Context, uid types.UID) (bool, error) {
	found, err := r.Carve.GetConsumer(ctx, r.Project, r.Name, string(uid))
	if carve.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return found.Spec.Kind == kindNode, nil
}
