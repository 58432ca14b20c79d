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

// A claim in Carve names its cluster and its IPClaim. The UID annotation names the present IPClaim; the ownerRef names the IPClaim that created the claim.
const (
	realmLabel          = "ipam.carve.dev/realm"
	clusterAnnotation   = "ipam.carve.dev/cluster"
	namespaceAnnotation = "ipam.carve.dev/namespace"
	nameAnnotation      = "ipam.carve.dev/name"
	uidAnnotation       = "ipam.carve.dev/uid"
)

// holder names an IPClaim on its claim in Carve.
func (r *Reconciler) holder(claim *ipam.IPClaim) carve.Annotations {
	return carve.Annotations{
		clusterAnnotation: r.Realm.Cluster, namespaceAnnotation: claim.Namespace, nameAnnotation: claim.Name, uidAnnotation: string(claim.UID),
	}
}

// holderOf answers the UID of the IPClaim that has a claim of Carve; empty when no controller has made the claim.
func holderOf(held *carve.IPClaim) types.UID {
	owner := held.Spec.OwnerRef
	if owner == nil || owner.Kind != kindIPClaim || held.Metadata.Name != remotePrefix+owner.UID {
		return ""
	}
	return types.UID(held.Metadata.Annotations[uidAnnotation])
}

// durable says whether a claim outlives its UID: it keeps its block when somebody moves or restores it. Another pod has another network, and a claim that
// waits for its first pod takes another block with each.
func durable(claim *ipam.IPClaim) bool { return PodOf(claim) == nil && !delayed(claim) }

// record writes the block of a claim into its metadata.
func (r *Reconciler) record(ctx context.Context, claim *ipam.IPClaim, held *carve.IPClaim) error {
	if !durable(claim) {
		return nil
	}
	return patch.Change(ctx, r.Client, claim, func() {
		meta.SetMetaDataAnnotation(&claim.ObjectMeta, ipam.BlockAnnotation, held.Status.AllocatedCIDR)
		meta.SetMetaDataLabel(&claim.ObjectMeta, ipam.ClaimLabel, held.Metadata.UID)
	})
}

// claim claims a block in Carve: the one that the claim's metadata records, or else what the spec asks for.
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

// keptError is a block that a claim has recorded and cannot have.
type keptError struct{ block, why string }

func (e *keptError) Error() string {
	return fmt.Sprintf("the block %s, which the annotation %s records, is held in Carve: %s. A claim without the annotation and the label %s gets another block.",
		e.block, ipam.BlockAnnotation, e.why, ipam.ClaimLabel)
}

// takeOver takes the claim of Carve that has a block over from an IPClaim that is gone. The block stays held all the time.
func (r *Reconciler) takeOver(ctx context.Context, claim *ipam.IPClaim, block string, wanted carve.IPClaimSpec) (*carve.IPClaim, error) {
	held, err := r.heldBy(ctx, claim, block, wanted)
	if err != nil {
		return nil, err
	}
	why, err := r.keeps(ctx, claim, held)
	if err != nil {
		return nil, err
	}
	if why != "" {
		return nil, &keptError{block, why}
	}
	change, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": r.holder(claim)}})
	if err != nil {
		return nil, err
	}
	return r.Realm.Carve.PatchClaim(ctx, r.Realm.Project, held.Metadata.Name, change, carve.PatchClaimParams{IfMatch: new(strconv.Quote(held.Metadata.Revision))})
}

// heldBy answers the claim of the project that has a block, or nil. Several spaces may have the block: it is the claim that the label names, or one from the
// pool or the class.
func (r *Reconciler) heldBy(ctx context.Context, claim *ipam.IPClaim, block string, wanted carve.IPClaimSpec) (*carve.IPClaim, error) {
	prefix, err := netip.ParsePrefix(block)
	if err != nil {
		return nil, &keptError{block, "it is no block"}
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

// keeps returns the reason why an IPClaim may not take over a claim of Carve, or an empty text. The API server must have deleted the IPClaim that holds
// the claim. The new IPClaim proves its right by its label, or by an address in its status. An address that another object shows is never taken over.
func (r *Reconciler) keeps(ctx context.Context, claim *ipam.IPClaim, held *carve.IPClaim) (why string, err error) {
	switch {
	case held == nil:
		return "a claim of another project, or something else, has it", nil
	case holderOf(held) == "":
		return "claim " + held.Metadata.Name + " has it, which is of no IPClaim", nil
	case held.Metadata.Labels[realmLabel] != r.Realm.Name:
		return fmt.Sprintf("claim %s of the realm %s has it, and this controller is of the realm %s; see --realm",
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
		return "an object of another shows it to its users", nil
	case !shows && claim.Labels[ipam.ClaimLabel] != held.Metadata.UID:
		return "the label " + ipam.ClaimLabel + " does not name claim " + held.Metadata.Name + ", which has it", nil
	}
	return "", nil
}

// Place is where an address is: several spaces may have the same one. It names the pool as `project/name`, or the class.
type Place struct{ Pool, Class, Address string }

// placeOf answers the places by which others may name an address.
func placeOf(pool, class, address string) []Place {
	return []Place{{Pool: pool, Address: address}, {Class: class, Address: address}}
}

// shownBy says whether an object of the owner of a claim shows an address to its users, or an object of others does.
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

// heir answers what shows the block of a claim that is being deleted, and is another object: the claim was moved, or somebody has made a copy that waits
// for the block. The API server itself is asked.
func (r *Reconciler) heir(ctx context.Context, claim *ipam.IPClaim) (string, error) {
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

// heirs answers the claims that record the block of a claim that was deleted.
func (r *Reconciler) heirs(ctx context.Context, claim client.Object) (requests []reconcile.Request) {
	block := claim.GetAnnotations()[ipam.BlockAnnotation]
	if block == "" {
		return nil
	}
	var all ipam.IPClaimList
	if err := r.Client.List(ctx, &all, client.MatchingFields{byBlock: block}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "looking for claims that record a block", "block", block)
		return nil
	}
	for i := range all.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&all.Items[i])})
	}
	return requests
}

// deletions takes the deletions of objects alone.
func deletions() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false }, UpdateFunc: func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}
