package claims

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/patch"
)

// A claim in Carve names its cluster and its IPClaim. The UID annotation names the current IPClaim. The ownerRef names the IPClaim that created the
// claim. The two IPClaims differ if the current one has taken over the block.
const (
	realmLabel          = "ipam.carve.dev/realm"
	clusterAnnotation   = "ipam.carve.dev/cluster"
	namespaceAnnotation = "ipam.carve.dev/namespace"
	nameAnnotation      = "ipam.carve.dev/name"
	uidAnnotation       = "ipam.carve.dev/uid"
)

// holder returns the annotations by which a claim in Carve names its IPClaim.
func (r *Reconciler) holder(claim *ipam.IPClaim) carve.Annotations {
	return carve.Annotations{
		clusterAnnotation: r.Realm.Cluster, namespaceAnnotation: claim.Namespace, nameAnnotation: claim.Name, uidAnnotation: string(claim.UID),
	}
}

// holderOf returns the UID of the IPClaim to which a claim in Carve belongs. It returns "" if no controller created the claim.
func holderOf(held *carve.IPClaim) types.UID {
	owner := held.Spec.OwnerRef
	if owner == nil || owner.Kind != kindIPClaim || held.Metadata.Name != remotePrefix+owner.UID {
		return ""
	}
	return types.UID(held.Metadata.Annotations[uidAnnotation])
}

// durable reports whether a claim keeps its block when it is moved or restored under another UID. If a pod owns the claim, the claim does not keep
// its block, because another pod has another network. If the claim waits for its first pod, it does not keep its block either, because it gets
// another block each time.
func durable(claim *ipam.IPClaim) bool { return PodOf(claim) == nil && !delayed(claim) }

// record writes the block of a durable claim into the IPClaim's metadata.
func (r *Reconciler) record(ctx context.Context, claim *ipam.IPClaim, held *carve.IPClaim) error {
	if !durable(claim) {
		return nil
	}
	return patch.Change(ctx, r.Client, claim, func() {
		meta.SetMetaDataAnnotation(&claim.ObjectMeta, ipam.BlockAnnotation, held.Status.AllocatedCIDR)
		meta.SetMetaDataLabel(&claim.ObjectMeta, ipam.ClaimLabel, held.Metadata.UID)
	})
}

// claim claims a block in Carve. If the IPClaim's metadata records a block, it claims that block. Otherwise it requests a block for the spec.
func (r *Reconciler) claim(ctx context.Context, claim *ipam.IPClaim, wanted carve.IPClaimPut) (*carve.IPClaim, error) {
	block := claim.Annotations[ipam.BlockAnnotation]
	if block == "" || !durable(claim) {
		return r.Realm.Carve.PutClaim(ctx, r.Realm.Project, remoteName(claim), wanted)
	}
	held, err := r.Realm.Carve.GetClaim(ctx, r.Realm.Project, remoteName(claim))
	if !carve.IsNotFound(err) {
		return held, err
	}
	wanted.Spec.CIDR, wanted.Spec.Address, wanted.Spec.PrefixLength = block, "", 0
	held, err = r.Realm.Carve.PutClaim(ctx, r.Realm.Project, remoteName(claim), wanted)
	if errors.Is(err, carve.ProblemCodeBlockTaken) {
		return r.takeOver(ctx, claim, block, wanted.Spec)
	}
	return held, err
}

// blockTakenError reports that an IPClaim cannot get the block that its metadata records.
type blockTakenError struct{ block, why string }

func (e *blockTakenError) Error() string {
	return fmt.Sprintf("the block %s, which the annotation %s records, is in use in Carve: %s. To get another block, create a claim without the annotation and the label %s.",
		e.block, ipam.BlockAnnotation, e.why, ipam.ClaimLabel)
}

// takeOver finds the claim in Carve that has a block and belonged to a deleted IPClaim. It makes the new IPClaim the holder of that claim. The block
// stays allocated meanwhile.
func (r *Reconciler) takeOver(ctx context.Context, claim *ipam.IPClaim, block string, wanted carve.IPClaimSpec) (*carve.IPClaim, error) {
	held, err := r.heldBy(ctx, claim, block, wanted)
	if err != nil {
		return nil, err
	}
	why, err := r.mustKeep(ctx, claim, held)
	if err != nil {
		return nil, err
	}
	if why != "" {
		return nil, &blockTakenError{block, why}
	}
	change, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": r.holder(claim)}})
	if err != nil {
		return nil, err
	}
	return r.Realm.Carve.PatchClaim(ctx, r.Realm.Project, held.Metadata.Name, change, carve.PatchClaimParams{IfMatch: new(strconv.Quote(held.Metadata.Revision))})
}

// heldBy returns the project's claim that has a block, or nil. Several spaces may have the same block. heldBy therefore prefers the claim that the
// IPClaim's label names. If there is none, it returns a claim from the requested pool or class.
func (r *Reconciler) heldBy(ctx context.Context, claim *ipam.IPClaim, block string, wanted carve.IPClaimSpec) (*carve.IPClaim, error) {
	prefix, err := netip.ParsePrefix(block)
	if err != nil {
		return nil, &blockTakenError{block, "it is not a block in CIDR notation"}
	}
	var found *carve.IPClaim
	address := prefix.Addr().String()
	for c, err := range r.Realm.Carve.Claims(ctx, r.Realm.Project, carve.ListClaimsParams{Contains: &address}) {
		if err != nil {
			return nil, err
		}
		if c.Status.AllocatedCIDR != block {
			continue
		}
		if c.Metadata.UID == claim.Labels[ipam.ClaimLabel] {
			return &c, nil
		}
		if ref := wanted.PoolRef; ref != nil && c.Status.PoolRef.Name == ref.Name || ref == nil && c.Status.ClassName == wanted.ClassName {
			found = &c
		}
	}
	return found, nil
}

// mustKeep returns the reason why an IPClaim may not take over a claim in Carve, or "" if it may. An IPClaim may take over a claim if all of these
// are true:
//   - The claim belongs to an IPClaim in this controller's realm, and the API server has deleted that IPClaim.
//   - No object of another owner shows the address to its users.
//   - The new IPClaim's label names the claim, or an object of the new IPClaim's owner shows the address.
func (r *Reconciler) mustKeep(ctx context.Context, claim *ipam.IPClaim, held *carve.IPClaim) (why string, err error) {
	switch {
	case held == nil:
		return "a claim in another project, or another object, has it", nil
	case holderOf(held) == "":
		return "claim " + held.Metadata.Name + " has it, and belongs to no IPClaim", nil
	case held.Metadata.Labels[realmLabel] != r.Realm.Name:
		return fmt.Sprintf("claim %s in the realm %s has it, but this controller's realm is %s; see --realm",
			held.Metadata.Name, held.Metadata.Labels[realmLabel], r.Realm.Name), nil
	case holderOf(held) == claim.UID:
		return "", nil
	}
	name := types.NamespacedName{Namespace: held.Metadata.Annotations[namespaceAnnotation], Name: held.Metadata.Annotations[nameAnnotation]}
	there := new(ipam.IPClaim)
	err = r.Live.Get(ctx, name, there)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return "", err
	case err == nil && there.UID == holderOf(held):
		return "IPClaim " + name.String() + " has it", nil
	}
	shows, others, err := r.shownBy(ctx, claim, placeOf(held.Status.PoolRef.Project+"/"+held.Status.PoolRef.Name, held.Status.ClassName, held.Status.Address))
	switch {
	case err != nil:
		return "", err
	case others:
		return "another owner's object shows it to its users", nil
	case !shows && claim.Labels[ipam.ClaimLabel] != held.Metadata.UID:
		return "the label " + ipam.ClaimLabel + " does not name claim " + held.Metadata.Name + ", which has it", nil
	}
	return "", nil
}

// Place identifies an address by the address and its pool (project/name), or by the address and its class. The address alone is not enough, because
// several spaces may have the same address.
type Place struct{ Pool, Class, Address string }

// placeOf returns the places by which other objects may name an address.
func placeOf(pool, class, address string) []Place {
	return []Place{{Pool: pool, Address: address}, {Class: class, Address: address}}
}

// shownBy reports whether an object of the claim's owner shows an address to its users, and whether an object of another owner shows it.
func (r *Reconciler) shownBy(ctx context.Context, claim *ipam.IPClaim, places []Place) (own, others bool, err error) {
	if places[0].Address == "" || r.Shown == nil {
		return false, false, nil
	}
	shown, err := r.Shown(ctx)
	if err != nil {
		return false, false, err
	}
	var owners []types.UID
	for _, place := range places {
		owners = append(owners, shown[place]...)
	}
	if owner := meta.GetControllerOf(claim); owner != nil && slices.Contains(owners, owner.UID) {
		return true, false, nil
	}
	return false, len(owners) > 0, nil
}

// successor describes another object that needs a deleted claim's block, or returns "". Such an object exists if the claim was moved, or if a copy of
// the claim waits for the block. successor reads from the API server, not from the cache.
func (r *Reconciler) successor(ctx context.Context, claim *ipam.IPClaim) (string, error) {
	if claim.Status.Claim == nil || !durable(claim) {
		return "", nil
	}
	var copies ipam.IPClaimList
	if err := r.Live.List(ctx, &copies, client.MatchingLabels{ipam.ClaimLabel: claim.Status.Claim.UID}); err != nil {
		return "", err
	}
	for i := range copies.Items {
		if c := &copies.Items[i]; c.UID != claim.UID && c.DeletionTimestamp.IsZero() && durable(c) && c.Annotations[ipam.BlockAnnotation] == claim.Status.CIDR {
			return "IPClaim " + client.ObjectKeyFromObject(c).String(), nil
		}
	}
	own, others, err := r.shownBy(ctx, claim, placeOf(claim.Status.Pool, claim.Status.ClassName, claim.Status.Address))
	if own || others {
		return "an object that shows it to its users", err
	}
	return "", err
}

// successors returns reconcile requests for the IPClaims whose metadata records the block of a deleted IPClaim.
func (r *Reconciler) successors(ctx context.Context, claim client.Object) (requests []reconcile.Request) {
	block := claim.GetAnnotations()[ipam.BlockAnnotation]
	if block == "" {
		return nil
	}
	var all ipam.IPClaimList
	if err := r.Client.List(ctx, &all, client.MatchingFields{byBlock: block}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list claims that record a block", "block", block)
		return nil
	}
	for i := range all.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&all.Items[i])})
	}
	return requests
}

// deletions accepts only the deletions of objects.
func deletions() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false }, UpdateFunc: func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}
