package realm

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"

	carve "github.com/carve-ipam/carve/client"
)

const kindNode = "Node"

// HaveNode has a node be a consumer by its UID, whether or not it uses anything yet. One that has ended stays so.
func (r *Realm) HaveNode(ctx context.Context, name string, uid types.UID) error {
	ttl := int64(r.TTL / time.Second)
	spec := carve.IPConsumerSpec{Kind: kindNode, Name: Shown(types.NamespacedName{Name: name}), TTLSeconds: &ttl}
	_, err := r.Carve.PutConsumer(ctx, r.Project, r.Name, string(uid), carve.IPConsumerPut{Spec: spec})
	if errors.Is(err, carve.ProblemCodeConsumerEnded) {
		return nil
	}
	return err
}

// HadNode says whether a UID is that of a node of this cluster, be it one that is long gone.
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
