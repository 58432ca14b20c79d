package proof_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	api "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// machine has one address for its whole life. Its claim is an IPClaim, or an IPAddressClaim of Cluster API with an IPAddress. The claim moves between two
// namespaces, and gets another UID with each move.
type machine struct {
	name string
	// of is the kind of the claim, and in is the index of its present namespace.
	of    schema.GroupVersionKind
	in    int
	moves int
	saw   sight
	ended time.Time // just before the deletion of its claim
}

var (
	ipClaims        = ipam.GroupVersion.WithKind("IPClaim")
	ipAddresses     = schema.GroupVersionKind{Group: "ipam.cluster.x-k8s.io", Version: "v1beta2", Kind: "IPAddress"}
	ipAddressClaims = schema.GroupVersionKind{Group: "ipam.cluster.x-k8s.io", Version: "v1beta2", Kind: "IPAddressClaim"}
)

func object(kind schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

func field(o *unstructured.Unstructured, path ...string) string {
	value, _, _ := unstructured.NestedString(o.Object, path...)
	return value
}

// park creates the two namespaces of machines, and the IPPool that their claims name.
func (w *world) park(t testing.TB) {
	t.Helper()
	for i := range w.parks {
		ns := core.Namespace{ObjectMeta: meta.ObjectMeta{GenerateName: "park-"}}
		require.NoError(t, w.api.Create(t.Context(), &ns))
		w.parks[i] = ns.Name
	}
	pool := &ipam.IPPool{ObjectMeta: meta.ObjectMeta{Name: w.name}, Spec: ipam.IPPoolSpec{Existing: "pool"}}
	require.NoError(t, w.api.Create(t.Context(), pool))
	t.Cleanup(func() { _ = w.api.Delete(context.Background(), pool) })
}

// create creates an object, and tries again after each failure. It waits until an earlier object of the same name is deleted.
func (w *world) create(ctx context.Context, o *unstructured.Unstructured) {
	mark := string(uuid.NewUUID())
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[attempt] = mark
	o.SetLabels(labels)
	w.do(ctx, "make "+o.GetKind()+" "+o.GetName(), func() error {
		made := o.DeepCopy()
		err := w.api.Create(ctx, made)
		if api.IsAlreadyExists(err) {
			if err = w.api.Get(ctx, client.ObjectKeyFromObject(o), made); err == nil && made.GetLabels()[attempt] != mark {
				err = errOther
			}
		}
		if err == nil {
			*o = *made
		}
		return err
	})
}

// read returns an object from the API server, or nil if it does not exist.
func (w *world) read(ctx context.Context, kind schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	o := object(kind, namespace, name)
	w.do(ctx, "read "+kind.Kind+" "+name, func() error {
		err := w.api.Get(ctx, client.ObjectKeyFromObject(o), o)
		if api.IsNotFound(err) {
			o, err = nil, nil
		}
		return err
	})
	return o
}

// patch changes the metadata of an object, if the object exists.
func (w *world) patch(ctx context.Context, o *unstructured.Unstructured, text string) {
	w.do(ctx, "change "+o.GetKind()+" "+o.GetName(), func() error {
		return client.IgnoreNotFound(w.api.Patch(ctx, o.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(text))))
	})
}

// delete deletes the object of this UID. With force, it also removes the finalizers, as clusterctl does.
func (w *world) delete(ctx context.Context, o *unstructured.Unstructured, force bool) {
	w.do(ctx, "delete "+o.GetKind()+" "+o.GetName(), func() error {
		return gone(w.api.Delete(ctx, o.DeepCopy(), client.Preconditions{UID: new(o.GetUID())}))
	})
	if force {
		w.do(ctx, "take the finalizers off "+o.GetKind()+" "+o.GetName(), func() error {
			text := fmt.Sprintf(`{"metadata":{"uid":%q,"finalizers":[]}}`, o.GetUID())
			return gone(w.api.Patch(ctx, o.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(text))))
		})
	}
}

// arrives creates a machine with its claim.
func (w *world) arrives(ctx context.Context, name string, capi bool) *machine {
	m := &machine{name: name, of: ipClaims, in: rand.IntN(len(w.parks))}
	claim := object(m.of, w.parks[m.in], name)
	claim.Object["spec"] = map[string]any{"poolRef": map[string]any{"name": "pool"}, "prefixLength": int64(32)}
	if capi {
		m.of = ipAddressClaims
		claim = object(m.of, w.parks[m.in], name)
		claim.Object["spec"] = map[string]any{"poolRef": map[string]any{"apiGroup": ipam.GroupVersion.Group, "kind": "IPPool", "name": w.name}}
	}
	w.mu.Lock()
	w.machines[name] = m
	w.mu.Unlock()
	w.create(ctx, claim)
	return m
}

// shows records the address that a machine reads in the status or the annotation of its IPClaim, or in its IPAddress. A second address is a fault.
func (w *world) shows(name, where, address string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.machines[name]
	if m == nil || !m.ended.IsZero() || address == "" {
		return
	}
	switch {
	case m.saw.cidr == "":
		m.saw = sight{address, time.Now()}
	case m.saw.cidr != address:
		w.faults = append(w.faults, fmt.Sprintf("machine %s had %s, and %s shows %s after %d moves", name, m.saw.cidr, where, address, m.moves))
	}
}

// owned returns the name of the machine of an object.
func owned(o *unstructured.Unstructured) string {
	if owner := meta.GetControllerOf(o); owner != nil {
		return owner.Name
	}
	return o.GetName()
}

// glances records the addresses in an object for its machine.
func (w *world) glances(o *unstructured.Unstructured) {
	if o.GetKind() == ipAddresses.Kind {
		w.shows(owned(o), "the IPAddress", field(o, "spec", "address")+"/32")
		return
	}
	w.shows(owned(o), "the status of the IPClaim", field(o, "status", "cidr"))
	w.shows(owned(o), "the annotation of the IPClaim", o.GetAnnotations()[ipam.BlockAnnotation])
}

// living returns the machines that have not ended.
func (w *world) living() (all []*machine) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.machines {
		if m.ended.IsZero() {
			all = append(all, m)
		}
	}
	return all
}

// goes deletes the claim of a machine.
func (w *world) goes(ctx context.Context, m *machine) {
	w.mu.Lock()
	m.ended = time.Now()
	w.mu.Unlock()
	if claim := w.read(ctx, m.of, w.parks[m.in], m.name); claim != nil {
		w.delete(ctx, claim, false)
	}
}

// travels moves a machine to the other namespace, if it has its address, and reports whether it did.
func (w *world) travels(ctx context.Context, m *machine) bool {
	claim := w.read(ctx, m.of, w.parks[m.in], m.name)
	if claim == nil {
		w.mu.Lock()
		w.faults = append(w.faults, fmt.Sprintf("the claim of machine %s is not there after %d moves", m.name, m.moves))
		w.mu.Unlock()
		return false
	}
	to := w.parks[1-m.in]
	if m.of == ipClaims {
		w.glances(claim)
		if claim.GetAnnotations()[ipam.BlockAnnotation] == "" || field(claim, "status", "cidr") == "" {
			return false
		}
		w.create(ctx, moved(claim, to, nil))
		w.delete(ctx, claim, rand.IntN(3) > 0)
	} else if !w.pivots(ctx, claim, to) {
		return false
	}
	w.mu.Lock()
	m.in, m.moves = 1-m.in, m.moves+1
	w.mu.Unlock()
	return true
}

const paused = "cluster.x-k8s.io/paused"

// pivots moves a claim of Cluster API with its IPAddress. In half of the moves it also moves the IPClaim; else the garbage collector deletes the IPClaim.
func (w *world) pivots(ctx context.Context, claim *unstructured.Unstructured, to string) bool {
	address := w.read(ctx, ipAddresses, claim.GetNamespace(), claim.GetName())
	if address == nil || field(claim, "status", "addressRef", "name") == "" {
		return false
	}
	w.glances(address)
	w.patch(ctx, claim, fmt.Sprintf(`{"metadata":{"annotations":{%q:""}}}`, paused))
	target := moved(claim, to, nil)
	target.SetAnnotations(map[string]string{paused: ""})
	w.create(ctx, target)
	w.create(ctx, moved(address, to, target))
	if rand.IntN(2) == 0 {
		for _, held := range w.heldFor(ctx, claim) {
			w.create(ctx, moved(held, to, target))
			w.delete(ctx, held, true)
		}
	}
	w.delete(ctx, address, true)
	w.delete(ctx, claim, true)
	w.patch(ctx, target, fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, paused))
	return true
}

// moved returns a copy of an object for another namespace. The copy has no UID and no status, and the claim in that namespace owns it.
func moved(o *unstructured.Unstructured, to string, owner *unstructured.Unstructured) *unstructured.Unstructured {
	target := object(o.GroupVersionKind(), to, o.GetName())
	target.SetLabels(o.GetLabels())
	target.SetAnnotations(o.GetAnnotations())
	target.SetFinalizers(o.GetFinalizers())
	target.Object["spec"] = o.DeepCopy().Object["spec"]
	owners := o.GetOwnerReferences()
	for i := range owners {
		if owner != nil && owners[i].Kind == owner.GetKind() {
			owners[i].UID = owner.GetUID()
		}
	}
	target.SetOwnerReferences(owners)
	return target
}

// all returns the objects of a kind in the namespaces of machines.
func (w *world) all(ctx context.Context, kind schema.GroupVersionKind) (found []unstructured.Unstructured, err error) {
	for _, namespace := range w.parks {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := w.api.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, err
		}
		found = append(found, list.Items...)
	}
	return found, nil
}

// heldFor returns the IPClaims of a claim of Cluster API.
func (w *world) heldFor(ctx context.Context, claim *unstructured.Unstructured) (held []*unstructured.Unstructured) {
	w.do(ctx, "list the IPClaims", func() error {
		held = nil
		all, err := w.all(ctx, ipClaims)
		for i := range all {
			if owner := meta.GetControllerOf(&all[i]); owner != nil && owner.UID == claim.GetUID() && all[i].GetDeletionTimestamp() == nil {
				held = append(held, &all[i])
			}
		}
		return err
	})
	return held
}

// collects deletes the objects whose owner does not exist any more, as the garbage collector of Kubernetes does.
func (w *world) collects(ctx context.Context) error {
	for _, kind := range []schema.GroupVersionKind{ipClaims, ipAddresses} {
		all, err := w.all(ctx, kind)
		if err != nil {
			return err
		}
		for i := range all {
			o := &all[i]
			owner := meta.GetControllerOf(o)
			if owner == nil || o.GetDeletionTimestamp() != nil {
				continue
			}
			there := object(ipAddressClaims, o.GetNamespace(), owner.Name)
			err := w.api.Get(ctx, client.ObjectKeyFromObject(there), there)
			if client.IgnoreNotFound(err) != nil {
				return err
			}
			if err == nil && there.GetUID() == owner.UID {
				continue
			}
			if err := gone(w.api.Delete(ctx, o, client.Preconditions{UID: new(o.GetUID())})); err != nil {
				return err
			}
		}
	}
	return nil
}

// displaced returns the faults of the machines, and removes their claims from held. Each machine that lives must have its address, and no object of an ended
// machine may exist. No two machines may read one address in a status, an annotation or an IPAddress.
func (w *world) displaced(ctx context.Context, held map[string]string) (faults []string, err error) {
	if w.parks[0] == "" {
		return nil, nil
	}
	if err := w.collects(ctx); err != nil {
		return nil, err
	}
	claims, err := w.all(ctx, ipClaims)
	if err != nil {
		return nil, err
	}
	addresses, err := w.all(ctx, ipAddresses)
	if err != nil {
		return nil, err
	}
	shown, has := map[string]string{}, map[string]map[string]bool{}
	var remotes []string
	for _, o := range append(claims, addresses...) {
		w.glances(&o)
		name, in := owned(&o), o.GetKind()
		for _, block := range []string{field(&o, "status", "cidr"), o.GetAnnotations()[ipam.BlockAnnotation], field(&o, "spec", "address")} {
			if in == ipAddresses.Kind && block != "" {
				block += "/32"
			}
			if other := shown[block]; block != "" && other != "" && other != name {
				faults = append(faults, fmt.Sprintf("%s is shown for %s and for %s", block, other, name))
			}
			shown[block] = name
		}
		if has[name] == nil {
			has[name] = map[string]bool{}
		}
		remote := field(&o, "status", "claim", "name")
		has[name][in] = in == ipAddresses.Kind || remote != "" && held[remote] == field(&o, "status", "cidr")
		remotes = append(remotes, remote)
	}
	for _, remote := range remotes {
		delete(held, remote)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, m := range w.machines {
		switch {
		case m.ended.IsZero() && (m.saw.cidr == "" || !has[name][ipClaims.Kind] || m.of == ipAddressClaims && !has[name][ipAddresses.Kind]):
			faults = append(faults, fmt.Sprintf("machine %s, of a %s, does not have its address %q: %v", name, m.of.Kind, m.saw.cidr, has[name]))
		case !m.ended.IsZero() && has[name] != nil:
			faults = append(faults, fmt.Sprintf("something is there of machine %s, which is gone", name))
		}
	}
	return faults, nil
}

// unplaced returns the faults of the machines alone.
func (w *world) unplaced(ctx context.Context) (faults []string, err error) {
	held, err := w.held(ctx)
	if err != nil {
		return nil, err
	}
	return w.displaced(ctx, held)
}
