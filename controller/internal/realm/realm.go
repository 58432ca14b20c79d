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
	// Name is that of the realm, and Cluster the cluster's own. Clusters may have one realm one after another.
	Name, Cluster string
	// TTL is how long a pod is believed to live that nobody renews: the bound of what a cluster leaves behind that is never seen again.
	TTL time.Duration
}

// NameOf answers the name of a cluster, and of its realm unless somebody says otherwise: the UID of its namespace kube-system.
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

// HadPod says whether a UID is that of a pod of this name, be it one that is long gone.
func (r *Realm) HadPod(ctx context.Context, name types.NamespacedName, uid types.UID) (bool, error) {
	found, err := r.Carve.GetConsumer(ctx, r.Project, r.Name, string(uid))
	if carve.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return found.Spec.Kind == kindPod && found.Spec.Name == Shown(name), nil
}

// End says that a pod has ended: Carve releases what it alone used, and it never comes back. It may be said again.
func (r *Realm) End(ctx context.Context, uid types.UID) error {
	_, err := r.Carve.EndConsumer(ctx, r.Project, r.Name, string(uid))
	return err
}

// atOnce is how many consumers a request may renew.
const atOnce = 1000

// Renew says of pods that they live. It answers those that Carve does not take for alive, and never will by a renewal: they have ended, or are not
// known.
func (r *Realm) Renew(ctx context.Context, uids []string) (refused []string, err error) {
	for some := range slices.Chunk(uids, atOnce) {
		renewal := carve.ConsumerRenewal{Realm: r.Name, Consumers: some}
		renewed, err := r.Carve.RenewConsumers(ctx, r.Project, renewal)
		if err != nil {
			return nil, err
		}
		refused = append(append(refused, renewed.Ended...), renewed.Unknown...)
		telemetry.Renewed(len(some) - len(renewed.Ended) - len(renewed.Unknown))
	}
	return refused, nil
}

// lapse is the shortest time that Carve lets a consumer live without being renewed.
const lapse int64 = 10

// Lapse lets a pod expire that is said to be gone: what it alone used is released after some seconds, and cools down for as long as Carve has it for
// consumers that were lost. To say it again does not renew the pod.
func (r *Realm) Lapse(ctx context.Context, uid types.UID) error {
	found, err := r.Carve.GetConsumer(ctx, r.Project, r.Name, string(uid))
	if carve.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	spec, ttl := found.Spec, lapse
	if spec.TTLSeconds != nil && *spec.TTLSeconds == lapse {
		return nil
	}
	spec.TTLSeconds = &ttl
	_, err = r.Carve.PutConsumer(ctx, r.Project, r.Name, string(uid), carve.IPConsumerPut{Spec: spec})
	if errors.Is(err, carve.ProblemCodeConsumerEnded) {
		return nil
	}
	return err
}

// longestPage is the longest that Carve answers.
const longestPage carve.Limit = 500

// Live answers the UIDs of the pods that live in Carve.
func (r *Realm) Live(ctx context.Context) (uids []string, err error) {
	phase, page := carve.IPConsumerPhaseLive, longestPage
	for c, err := range r.Carve.Consumers(ctx, r.Project, r.Name, carve.ListConsumersParams{Phase: &phase, Limit: &page}) {
		if err != nil {
			return nil, err
		}
		if c.Spec.Kind == kindPod {
			uids = append(uids, c.Metadata.Name)
		}
	}
	return uids, nil
}
