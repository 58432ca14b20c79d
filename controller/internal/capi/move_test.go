package capi_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

const pausedAnnotation = "cluster.x-k8s.io/paused"

// elsewhere returns the story in another namespace, with the same pool.
func (s story) elsewhere() story {
	s.Helper()
	ns := core.Namespace{ObjectMeta: meta.ObjectMeta{GenerateName: "target-"}}
	require.NoError(s, world.Client.Create(s.Context(), &ns))
	s.namespace = ns.Name
	s.clears()
	return s
}

// pause pauses a claim or ends the pause.
func (s story) pause(claim client.Object, paused bool) {
	s.Helper()
	value := "null"
	if paused {
		value = `""`
	}
	text := fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, pausedAnnotation, value)
	require.NoError(s, world.Client.Patch(s.Context(), claim, client.RawPatch(types.MergePatchType, []byte(text))))
}

// copied copies an object of another namespace into this one, as clusterctl does. The copy has another UID, no status, and owners in this namespace.
func (s story) copied(o *unstructured.Unstructured, owner *unstructured.Unstructured) *unstructured.Unstructured {
	s.Helper()
	target := o.DeepCopy()
	target.SetNamespace(s.namespace)
	target.SetResourceVersion("")
	target.SetUID("")
	owners := target.GetOwnerReferences()
	for i := range owners {
		if owner != nil && owners[i].Kind == owner.GetKind() {
			owners[i].UID = owner.GetUID()
		}
	}
	target.SetOwnerReferences(owners)
	require.NoError(s, world.Client.Create(s.Context(), target))
	return target
}

// force deletes an object without its finalizers, as clusterctl does.
func (s story) force(o client.Object) {
	s.Helper()
	require.NoError(s, client.IgnoreNotFound(world.Client.Delete(s.Context(), o)))
	none := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":[]}}`))
	require.NoError(s, client.IgnoreNotFound(world.Client.Patch(s.Context(), o, none)))
}

// ipClaim returns the IPClaim of a claim.
func (s story) ipClaim(claim *unstructured.Unstructured) *unstructured.Unstructured {
	s.Helper()
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(ipam.GroupVersion.WithKind("IPClaimList"))
	require.NoError(s, world.Client.List(s.Context(), all, client.InNamespace(claim.GetNamespace())))
	for i := range all.Items {
		if owner := meta.GetControllerOf(&all.Items[i]); owner != nil && owner.UID == claim.GetUID() {
			return &all.Items[i]
		}
	}
	require.FailNow(s, "no IPClaim of "+claim.GetName())
	return nil
}

// addresses returns the addresses in the IPAddresses of the story's pool, each with the names of the IPAddresses.
func (s story) addresses() map[string][]string {
	s.Helper()
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(s.object("IPAddress", "").GroupVersionKind())
	require.NoError(s, world.Client.List(s.Context(), all))
	shown := map[string][]string{}
	for i := range all.Items {
		if pool, _, _ := unstructured.NestedString(all.Items[i].Object, "spec", "poolRef", "name"); pool == s.name {
			address, _, _ := unstructured.NestedString(all.Items[i].Object, "spec", "address")
			shown[address] = append(shown[address], all.Items[i].GetNamespace()+"/"+all.Items[i].GetName())
		}
	}
	return shown
}

// fills creates claims until the pool is full, and requires that no two IPAddresses have the same address.
func (s story) fills(room int) {
	s.Helper()
	for i := range room {
		s.ready(s.claim(fmt.Sprintf("next-%d", i), ""), "True", "Allocated")
	}
	s.ready(s.claim("late", ""), "False", "PoolExhausted")
	shown := s.addresses()
	require.Len(s, shown, 4)
	for address, by := range shown {
		require.Len(s, by, 1, address)
	}
}

func addressOf(o *unstructured.Unstructured) string {
	address, _, _ := unstructured.NestedString(o.Object, "spec", "address")
	return address
}

// TestMovedMachineKeepsItsAddress imitates clusterctl move with two namespaces. Objects in the target have other UIDs.
func TestMovedMachineKeepsItsAddress(t *testing.T) {
	for _, withClaims := range []bool{true, false} {
		t.Run(fmt.Sprintf("IPClaims are moved %t", withClaims), func(t *testing.T) {
			s := begin(t)
			s.run()
			s.ready(s.claim("m0", ""), "True", "Allocated")
			source := s.claim("m1", "")
			address := s.ready(source, "True", "Allocated")
			held := s.ipClaim(source)
			s.pause(source, true)

			in := s.elsewhere()
			target := in.copied(source, nil)
			moved := in.copied(address, target)
			if withClaims {
				in.copied(held, target)
				s.force(held)
			}
			s.force(address)
			s.force(source)
			if !withClaims { // the garbage collector deletes it
				require.NoError(t, world.Client.Delete(t.Context(), held))
				s.vanishes(held)
			}
			in.pause(target, false)
			now := in.ready(target, "True", "Allocated")
			require.Equal(t, addressOf(address), addressOf(now))
			require.Equal(t, moved.GetUID(), now.GetUID())
			require.Equal(t, 2, s.held())
			s.fills(2)

			require.NoError(t, world.Client.Delete(t.Context(), target))
			in.vanishes(target)
			in.vanishes(now)
			s.ready(s.object("IPAddressClaim", "late"), "True", "Allocated")
			require.Equal(t, 4, s.held())
		})
	}
}

// TestRestoredMachineKeepsItsAddress imitates Velero. Restored objects have another UID, no status and no owners.
func TestRestoredMachineKeepsItsAddress(t *testing.T) {
	for _, withClaims := range []bool{true, false} {
		t.Run(fmt.Sprintf("IPClaims are restored %t", withClaims), func(t *testing.T) {
			s := begin(t)
			stop := s.run()
			s.ready(s.claim("m0", ""), "True", "Allocated")
			source := s.claim("m1", "")
			address := s.ready(source, "True", "Allocated")
			held := s.ipClaim(source)
			stop()
			for _, o := range []*unstructured.Unstructured{source, address, held} {
				kept := o.DeepCopy()
				s.force(o)
				kept.SetOwnerReferences(nil)
				*o = *kept
			}
			restored := []*unstructured.Unstructured{address, source}
			if withClaims {
				restored = append(restored, held)
			}
			for _, o := range restored {
				s.copied(o, nil)
			}
			s.run()
			now := s.ready(source, "True", "Allocated")
			require.Equal(t, addressOf(address), addressOf(now))
			require.Equal(t, source.GetUID(), meta.GetControllerOf(now).UID)
			require.Equal(t, 2, s.held())
			s.fills(2)
		})
	}
}

// TestDeletedIPClaimKeepsTheAddressOfItsMachine deletes the IPClaim of a live claim.
func TestDeletedIPClaimKeepsTheAddressOfItsMachine(t *testing.T) {
	s := begin(t)
	s.run()
	s.ready(s.claim("m0", ""), "True", "Allocated")
	claim := s.claim("m1", "")
	address := s.ready(claim, "True", "Allocated")
	held := s.ipClaim(claim)
	require.NoError(t, world.Client.Delete(t.Context(), held, client.Preconditions{UID: new(held.GetUID())}))
	s.eventually("another IPClaim has the block", func() bool {
		now := &ipam.IPClaim{}
		err := world.Client.Get(t.Context(), client.ObjectKeyFromObject(held), now)
		return err == nil && now.UID != held.GetUID() && now.Status.Address == addressOf(address)
	})
	require.Equal(t, addressOf(address), addressOf(s.ready(claim, "True", "Allocated")))
	s.fills(2)
}

// TestIPAddressOfADeletedClaimIsDeleted imitates an API server that deletes a claim while the controller creates its IPAddress.
func TestIPAddressOfADeletedClaimIsDeleted(t *testing.T) {
	s := begin(t)
	s.run()
	claim := s.claim("m1", "")
	address := s.ready(claim, "True", "Allocated")
	held := s.ipClaim(claim)
	s.force(claim)
	for _, o := range []*unstructured.Unstructured{address, held} { // as the garbage collector does; the controller may be faster
		require.NoError(t, client.IgnoreNotFound(world.Client.Delete(t.Context(), o)))
	}
	s.vanishes(address)
	s.vanishes(held)
}
