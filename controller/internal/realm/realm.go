// Package realm manages one cluster's consumers in Carve. A realm is a namespace for consumers' UIDs. A cluster's pods and nodes are consumers in the
// cluster's realm.
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

// Realm manages one cluster's consumers in Carve.
type Realm struct {
	Carve   *carve.Carve
	Project string
	// Name is the realm's name. Cluster is the cluster's identity. Several clusters may use the same realm one after another, for example after a
	// restore.
	Name, Cluster string
	// TTL is the time after which a pod without renewals expires. It limits how long Carve holds the blocks for a cluster that is gone.
	TTL time.Duration
}

// NameOf returns a cluster's identity: the UID of the namespace kube-system. This UID is also the realm's default name.
func NameOf(ctx context.Context, reader client.Reader) (string, error) {
	var system core.Namespace
	if err := reader.Get(ctx, types.NamespacedName{Name: "kube-system"}, &system); err != nil {
		return "", fmt.Errorf("read the cluster's identity: %w", err)
	}
	return string(system.UID), nil
}

// Pod returns a pod as a consumer.
func (r *Realm) Pod(name types.NamespacedName, uid types.UID) carve.ClaimConsumer {
	ttl := int64(r.TTL / time.Second)
	return carve.ClaimConsumer{UID: string(uid), Realm: r.Name, Kind: kindPod, Name: Shown(name), TTLSeconds: &ttl}
}

const kindPod = "Pod"

// Shown returns an object's namespaced name as Carve shows it to people. It cuts the name at the maximum length for consumers. Two objects may then
// have the same text, but their UIDs differ.
func Shown(name types.NamespacedName) string {
	const most = 128
	text := name.String()
	return text[:min(len(text), most)]
}

// HadPod reports whether a UID belongs to a pod with this name in Carve, even if the pod has ended.
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

// End reports a pod's end. Carve releases the blocks that only this pod used, and the pod cannot come back. A repetition changes nothing.
func (r *Realm) End(ctx context.Context, uid types.UID) error {
	_, err := r.Carve.EndConsumer(ctx, r.Project, r.Name, string(uid))
	return err
}

// atOnce limits the consumers in one renewal.
const atOnce = 1000

// Renew renews live pods. It returns the pods that Carve has not renewed, because they have ended or are unknown.
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

// lapse is Carve's shortest time to live, in seconds.
const lapse int64 = 10

// Lapse lets a pod expire that is probably gone. After some seconds, Carve releases the blocks that only this pod used. These blocks cool down like
// any lost consumer's blocks. A repetition does not renew the pod.
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

// longestPage is Carve's maximum page size.
const longestPage carve.Limit = 500

// Live returns the UIDs of the pods that are live in Carve.
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
