package capi

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	api "k8s.io/apimachinery/pkg/api/errors"
	condition "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/claims"
	"github.com/carve-ipam/carve/controller/internal/conditions"
	"github.com/carve-ipam/carve/controller/internal/entries"
	"github.com/carve-ipam/carve/controller/internal/telemetry"
	"github.com/carve-ipam/carve/controller/patch"
)

// Reconciler serves IPAddressClaims.
type Reconciler struct {
	// Client reads IPClaims from the cache. It reads Cluster API's objects from the API server, because they have no Go types here. It also writes.
	Client client.Client
	// Live reads from the API server.
	Live client.Reader
	// Carve provides the pools' prefix lengths.
	Carve *carve.Carve
	// Project is the pools' project.
	Project string
}

// again is the pause before the next reconciliation of a claim whose cluster is paused or whose pool is not ready.
const again = 15 * time.Second

// Setup adds the reconciler to a manager. The cluster must have Cluster API's kinds.
func (r *Reconciler) Setup(manager ctrl.Manager, workers int) error {
	return ctrl.NewControllerManagedBy(manager).Named("cluster-api").For(of(claimKind)).Owns(&ipam.IPClaim{}).Owns(of(addressKind)).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, RateLimiter: claims.Patience()}).Complete(telemetry.Traced("cluster-api", r))
}

// Reconcile brings one claim closer to its desired state.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	claim := of(claimKind)
	if err := r.Client.Get(ctx, request.NamespacedName, claim); err != nil {
		if api.IsNotFound(err) {
			err = r.forget(ctx, request.NamespacedName)
		}
		return ctrl.Result{}, err
	}
	ref, ours := poolOf(claim)
	if !ours {
		return ctrl.Result{}, nil
	}
	if paused, err := r.paused(ctx, claim); err != nil || paused {
		return ctrl.Result{RequeueAfter: again}, err
	}
	if claim.GetDeletionTimestamp() != nil {
		return ctrl.Result{}, r.release(ctx, claim)
	}
	return r.ensureIPClaim(ctx, claim, ref)
}

// ensureIPClaim creates the IPClaim for an IPAddressClaim. When the IPClaim has an address, it creates the IPAddress.
func (r *Reconciler) ensureIPClaim(ctx context.Context, claim *unstructured.Unstructured, ref poolRef) (ctrl.Result, error) {
	if err := r.guard(ctx, claim); err != nil {
		return ctrl.Result{}, err
	}
	from, err := r.find(ctx, ref)
	if err != nil {
		return ctrl.Result{}, err
	}
	if from == nil || !from.ready {
		return ctrl.Result{RequeueAfter: again}, r.setReadyCondition(ctx, claim, "PoolNotReady", fmt.Sprintf("%s %s does not exist or is not ready", ref.kind, ref.name))
	}
	held, err := r.findIPClaim(ctx, claim, ref, from)
	if err != nil {
		return ctrl.Result{}, err
	}
	ready := condition.FindStatusCondition(held.Status.Conditions, conditions.Ready)
	switch {
	case ready == nil:
		return ctrl.Result{}, nil
	case ready.Status != meta.ConditionTrue && ready.Reason == ipam.ReasonPoolFull:
		return ctrl.Result{}, r.setReadyCondition(ctx, claim, "PoolExhausted", ready.Message)
	case ready.Status != meta.ConditionTrue:
		return ctrl.Result{}, r.setReadyCondition(ctx, claim, "AllocationFailed", ready.Message)
	}
	if why, err := r.reconcileAddress(ctx, claim, from, held); err != nil || why != "" {
		if err == nil {
			err = r.setReadyCondition(ctx, claim, "AllocationFailed", why)
		}
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.setReadyCondition(ctx, claim, "", "")
}

// findIPClaim returns the IPClaim for an IPAddressClaim, and creates it if it does not exist. An IPAddressClaim that was moved or restored already has an
// IPAddress. Its IPClaim then requests that address.
func (r *Reconciler) findIPClaim(ctx context.Context, claim *unstructured.Unstructured, ref poolRef, from *pool) (*ipam.IPClaim, error) {
	length := int32(32)
	if from.v6 {
		length = 128
	}
	wanted := &ipam.IPClaim{
		ObjectMeta: meta.ObjectMeta{Namespace: claim.GetNamespace(), Name: heldName(claim), OwnerReferences: owners(claim, nil)},
		Spec:       ipam.IPClaimSpec{PrefixLength: &length},
	}
	if ref.kind == kindPool {
		wanted.Spec.PoolRef = &ipam.PoolRef{Name: ipam.Name(from.called)}
	} else {
		wanted.Spec.ClassName = ipam.Name(from.called)
	}
	there := new(ipam.IPClaim)
	err := r.Client.Get(ctx, client.ObjectKeyFromObject(wanted), there)
	if api.IsNotFound(err) {
		has, failed := r.adoptIPAddress(ctx, claim)
		if failed != nil {
			return nil, failed
		}
		if has != "" {
			wanted.Annotations = map[string]string{ipam.BlockAnnotation: has}
		}
		if err = r.Client.Create(ctx, wanted); err == nil {
			return wanted, nil
		}
		if api.IsAlreadyExists(err) {
			err = r.Live.Get(ctx, client.ObjectKeyFromObject(wanted), there)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case ownedBy(there, claim):
		return there, nil
	case !former(there, claim) || there.Annotations[ipam.BlockAnnotation] == "":
		return nil, fmt.Errorf("IPClaim %s belongs to another owner", there.Name)
	case there.DeletionTimestamp != nil:
		return nil, errGoes
	}
	if _, err := r.adoptIPAddress(ctx, claim); err != nil { // the claim must own the IPAddress before it owns the IPClaim
		return nil, err
	}
	return there, r.own(ctx, there, claim)
}

// heldName returns the IPClaim's name. The name does not contain the claim's UID, so a moved or restored claim finds the same IPClaim.
func heldName(claim *unstructured.Unstructured) string {
	return entries.ClaimName(claim.GetName(), "", "address", 0)
}

// adoptIPAddress returns the block in a claim's existing IPAddress, or "". It makes the claim the owner.
func (r *Reconciler) adoptIPAddress(ctx context.Context, claim *unstructured.Unstructured) (block string, err error) {
	there := of(addressKind)
	err = r.Live.Get(ctx, client.ObjectKeyFromObject(claim), there)
	if err != nil || !isOf(there, claim) || !ownedBy(there, claim) && !former(there, claim) {
		return "", client.IgnoreNotFound(err)
	}
	address, err := netip.ParseAddr(text(there, "spec", "address"))
	if err != nil {
		return "", err
	}
	return netip.PrefixFrom(address, address.BitLen()).String(), r.own(ctx, there, claim)
}

// reconcileAddress creates the IPAddress under the claim's name, or returns the reason why it cannot.
func (r *Reconciler) reconcileAddress(ctx context.Context, claim *unstructured.Unstructured, from *pool, held *ipam.IPClaim) (why string, err error) {
	there := of(addressKind)
	err = r.Client.Get(ctx, client.ObjectKeyFromObject(claim), there)
	if api.IsNotFound(err) {
		wanted, failed := r.desiredIPAddress(ctx, claim, from, held)
		if failed != nil {
			return "", failed
		}
		if err = r.Client.Create(ctx, wanted); err == nil {
			return "", nil
		}
		if api.IsAlreadyExists(err) {
			err = r.Live.Get(ctx, client.ObjectKeyFromObject(claim), there)
		}
	}
	switch {
	case err != nil:
		return "", err
	case !ownedBy(there, claim):
		return fmt.Sprintf("IPAddress %s belongs to another claim", there.GetName()), nil
	case text(there, "spec", "address") != held.Status.Address:
		return fmt.Sprintf("IPAddress %s has %s, but the allocated address is %s", there.GetName(), text(there, "spec", "address"), held.Status.Address), nil
	case there.GetDeletionTimestamp() != nil: // Kubernetes deletes it together with an earlier claim; a later reconciliation creates a new one
		return "", errors.Join(r.unguard(ctx, there), errGoes)
	}
	return "", nil
}

// errGoes reports that Kubernetes is still deleting an earlier claim's object with this name.
var errGoes = errors.New("an object of an earlier claim with this name is being deleted")

// own gives a claim control of an object that an earlier claim with the same name controlled.
func (r *Reconciler) own(ctx context.Context, o client.Object, claim *unstructured.Unstructured) error {
	if ownedBy(o, claim) {
		return nil
	}
	before, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%T is not a Kubernetes object", o)
	}
	o.SetOwnerReferences(append(owners(claim, nil), slices.DeleteFunc(o.GetOwnerReferences(), func(owner meta.OwnerReference) bool {
		return owner.Kind == claimKind.Kind
	})...))
	return r.Client.Patch(ctx, o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// desiredIPAddress returns the IPAddress for a claim. The IPAddress has the pool's prefix length in Carve.
func (r *Reconciler) desiredIPAddress(ctx context.Context, claim *unstructured.Unstructured, from *pool, held *ipam.IPClaim) (*unstructured.Unstructured, error) {
	project, name, _ := strings.Cut(held.Status.Pool, "/")
	got, err := r.Carve.GetPool(ctx, project, name)
	if err != nil {
		return nil, err
	}
	block, err := netip.ParsePrefix(got.Status.AllocatedCIDR)
	if err != nil {
		return nil, err
	}
	a := of(addressKind)
	a.SetNamespace(claim.GetNamespace())
	a.SetName(claim.GetName())
	a.SetOwnerReferences(owners(claim, from))
	a.SetFinalizers([]string{finalizer})
	if cluster, said := claim.GetLabels()[clusterLabel]; said {
		a.SetLabels(map[string]string{clusterLabel: cluster})
	}
	pool, _, _ := unstructured.NestedFieldCopy(claim.Object, "spec", "poolRef")
	a.Object["spec"] = map[string]any{
		"claimRef": map[string]any{"name": claim.GetName()}, "poolRef": pool, "address": held.Status.Address, "prefix": int64(block.Bits()),
	}
	return a, nil
}

// release deletes the claim's IPAddress and then its IPClaim. Afterwards it removes the claim's finalizer.
func (r *Reconciler) release(ctx context.Context, claim *unstructured.Unstructured) error {
	if !controllerutil.ContainsFinalizer(claim, finalizer) {
		return nil
	}
	a := of(addressKind)
	held := new(ipam.IPClaim)
	for object, name := range map[client.Object]string{a: claim.GetName(), held: heldName(claim)} {
		err := r.Live.Get(ctx, types.NamespacedName{Namespace: claim.GetNamespace(), Name: name}, object)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	if ownedBy(a, claim) {
		if err := r.unguard(ctx, a); err != nil {
			return err
		}
		uid := a.GetUID()
		err := r.Client.Delete(ctx, a, client.Preconditions{UID: &uid})
		if client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	if ownedBy(held, claim) { // when the IPClaim is gone, its event reconciles the claim again
		if held.DeletionTimestamp != nil {
			return nil
		}
		return client.IgnoreNotFound(r.Client.Delete(ctx, held, client.Preconditions{UID: &held.UID}))
	}
	return r.unguard(ctx, claim)
}

func (r *Reconciler) guard(ctx context.Context, claim *unstructured.Unstructured) error {
	return patch.Change(ctx, r.Client, claim, func() { controllerutil.AddFinalizer(claim, finalizer) })
}

func (r *Reconciler) unguard(ctx context.Context, o *unstructured.Unstructured) error {
	return client.IgnoreNotFound(patch.Change(ctx, r.Client, o, func() { controllerutil.RemoveFinalizer(o, finalizer) }))
}

// setReadyCondition writes into a claim's status whether the claim has its address. An empty reason means that the claim has its address.
func (r *Reconciler) setReadyCondition(ctx context.Context, claim *unstructured.Unstructured, reason, message string) error {
	helper, err := patch.NewPatchHelper(claim, r.Client)
	if err != nil {
		return err
	}
	var status struct {
		Conditions []meta.Condition `json:"conditions"`
	}
	if err := decode(claim.Object["status"], &status); err != nil {
		return err
	}
	c := meta.Condition{Type: conditions.Ready, Status: meta.ConditionFalse, Reason: reason, Message: message, ObservedGeneration: claim.GetGeneration()}
	if reason == "" {
		c.Status, c.Reason = meta.ConditionTrue, "Allocated"
		if err := unstructured.SetNestedField(claim.Object, claim.GetName(), "status", "addressRef", "name"); err != nil {
			return err
		}
	}
	condition.SetStatusCondition(&status.Conditions, c)
	var all []any
	if err := decode(status.Conditions, &all); err != nil {
		return err
	}
	if err := unstructured.SetNestedSlice(claim.Object, all, "status", "conditions"); err != nil {
		return err
	}
	return helper.Patch(ctx, claim)
}
