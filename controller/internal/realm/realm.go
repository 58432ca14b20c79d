// Package realm is a cluster's realm in Carve: the world in which the UIDs of its pods are consumers.
package realm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	carve "github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/controller/internal/telemetry"
)

// Realm speaks to Carve about the consumers of one cluster.
type Realm struct {
	Carve   *carve.Carve
	Project string
	// Name is that of the realm.
	Name string
	// TTL is how long a pod is believed to live that nobody renews: the bound of what a cluster leaves behind that is never seen again.
	TTL time.Duration
}

// NameOf answers what a cluster's realm is called unless somebody says otherwise: the UID of its namespace kube-system.
func NameOf(ctx context.Context, reader client.Reader) (string, error) {
	var system core.Namespace
	if err := reader.Get(ctx, types.NamespacedName{Name: "kube-system"}, &system); err != nil {
		return "", fmt.Errorf("the cluster's identity: %w", err)
	}
	return string(system.UID), nil
}

// Pod is a pod as a consumer.
func (r *Realm) Pod(name types.NamespacedName, uid types.UID) carve.ClaimConsumer {
	ttl := int64(r.TTL / time.Second)
	return carve.ClaimConsumer{UID: string(uid), Realm: r.Name, Kind: kindPod, Name: Shown(name), TTLSeconds: &ttl}
}

const kindPod = "Pod"

// Shown is a name as Carve shows it to people, who find a pod by its UID: at most as long as names of consumers are.
func Shown(name types.NamespacedName) string {
	const most = 128
	text := name.String()
	return text[:min(len(text), most)]
}

// End says that a pod has ended: Carve releases what it alone used, and it never comes back. It may be said again.
func (r *Realm) End(ctx context.Context, uid types.UID) error {
	_, err := r.Carve.EndConsumerWithResponse(ctx, r.Project, r.Name, string(uid), nil)
	return err
}

// atOnce is how many consumers a request may renew.
const atOnce = 1000

// Renew says of pods that they live. Those that have ended, or are not known, stay so.
func (r *Realm) Renew(ctx context.Context, uids []string) error {
	for some := range slices.Chunk(uids, atOnce) {
		renewal := carve.ConsumerRenewal{Realm: r.Name, Consumers: some}
		if _, err := r.Carve.RenewConsumersWithResponse(ctx, r.Project, nil, renewal); err != nil {
			return err
		}
		telemetry.Renewed(len(some))
	}
	return nil
}

// lapse is the shortest time that Carve lets a consumer live without being renewed.
const lapse int64 = 10

// Lapse lets a pod expire that is said to be gone: what it alone used is released after some seconds, and cools down for as long as Carve has it for
// consumers that were lost. To say it again does not renew the pod.
func (r *Realm) Lapse(ctx context.Context, name types.NamespacedName, uid types.UID) error {
	found, err := r.Carve.GetConsumerWithResponse(ctx, r.Project, r.Name, string(uid))
	if carve.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if ttl := found.JSON200.Spec.TTLSeconds; ttl != nil && *ttl == lapse {
		return nil
	}
	ttl := lapse
	spec := carve.IPConsumerSpec{Kind: kindPod, Name: Shown(name), TTLSeconds: &ttl}
	_, err = r.Carve.PutConsumerWithResponse(ctx, r.Project, r.Name, string(uid), nil, carve.IPConsumerPut{Spec: spec})
	if errors.Is(err, carve.ProblemCodeConsumerEnded) {
		return nil
	}
	return err
}
