package capi_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/capi"
	"github.com/carve-ipam/carve/controller/internal/claims"
	"github.com/carve-ipam/carve/controller/internal/mirror"
	"github.com/carve-ipam/carve/controller/internal/realm"
)

// story is a namespace with a project and a pool of four addresses. An IPPool with the story's name represents the pool.
type story struct {
	*testing.T
	name, namespace string
}

func begin(t *testing.T) story {
	t.Helper()
	s := story{T: t}
	ns := core.Namespace{ObjectMeta: meta.ObjectMeta{GenerateName: "story-"}}
	require.NoError(t, world.Client.Create(t.Context(), &ns))
	s.name, s.namespace = ns.Name, ns.Name
	_, err := world.Carve.CreateProject(t.Context(), carve.ProjectCreate{Metadata: carve.CreateMetadata{Name: s.name}})
	require.NoError(t, err)
	_, err = world.Carve.CreatePool(t.Context(), s.name,
		carve.IPPoolCreate{Metadata: carve.CreateMetadata{Name: "pool"}, Spec: carve.IPPoolSpec{CIDR: "10.20.0.0/30"}})
	require.NoError(t, err)
	pool := &ipam.IPPool{ObjectMeta: meta.ObjectMeta{Name: s.name}, Spec: ipam.IPPoolSpec{Existing: "pool"}}
	require.NoError(t, world.Client.Create(t.Context(), pool))
	t.Cleanup(func() { // or the next story's project would seem to have it too
		require.NoError(t, client.IgnoreNotFound(world.Client.Delete(context.Background(), pool)))
	})
	s.clears()
	return s
}

// run starts the controller and returns a function that stops it. It also stops when the test ends.
func (s story) run() (stop func()) {
	s.Helper()
	yes := true
	manager, err := ctrl.NewManager(world.Config, ctrl.Options{
		Metrics: server.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: &yes},
	})
	require.NoError(s, err)
	name, err := realm.NameOf(s.Context(), world.Client)
	require.NoError(s, err)
	in := &realm.Realm{Carve: world.Carve, Project: s.name, Name: name, TTL: time.Hour}
	events := manager.GetEventRecorder("carve")
	r := &claims.Reconciler{Client: manager.GetClient(), Live: manager.GetAPIReader(), Events: events, Realm: in}
	pools := mirror.Pools(mirror.Options{Client: manager.GetClient(), Carve: world.Carve, Project: s.name, Realm: name, Events: events, Every: time.Second})
	served := &capi.Reconciler{Client: manager.GetClient(), Live: manager.GetAPIReader(), Carve: world.Carve, Project: s.name}
	r.Shown = served.Shown
	ctx, cancel := context.WithCancel(context.Background())
	require.NoError(s, r.Setup(ctx, manager, 2))
	require.NoError(s, pools.Setup(manager))
	require.NoError(s, served.Setup(manager, 2))
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	stop = func() {
		if cancel != nil {
			cancel()
			cancel = nil
			require.NoError(s, <-ended)
		}
	}
	s.Cleanup(stop)
	return stop
}

// clears deletes the namespace's objects at the end of the test. Otherwise the controller of the next story would claim blocks for them.
func (s story) clears() {
	s.Helper()
	s.Cleanup(func() {
		ctx := context.Background()
		for _, kind := range []schema.GroupVersionKind{
			s.object("IPAddressClaim", "").GroupVersionKind(), s.object("IPAddress", "").GroupVersionKind(), ipam.GroupVersion.WithKind("IPClaim"),
		} {
			all := &unstructured.UnstructuredList{}
			all.SetGroupVersionKind(kind)
			require.NoError(s, world.Client.List(ctx, all, client.InNamespace(s.namespace)))
			for i := range all.Items {
				none := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":[]}}`))
				require.NoError(s, client.IgnoreNotFound(world.Client.Patch(ctx, &all.Items[i], none)))
				require.NoError(s, client.IgnoreNotFound(world.Client.Delete(ctx, &all.Items[i])))
			}
		}
	})
}

func (s story) object(kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "ipam.cluster.x-k8s.io/v1beta2", "kind": kind}}
	if kind == "Cluster" {
		o.SetAPIVersion("cluster.x-k8s.io/v1beta2")
	}
	o.SetNamespace(s.namespace)
	o.SetName(name)
	return o
}

// claim creates an IPAddressClaim, with a cluster if one is named.
func (s story) claim(name, cluster string) *unstructured.Unstructured {
	s.Helper()
	claim := s.object("IPAddressClaim", name)
	spec := map[string]any{"poolRef": map[string]any{"apiGroup": "ipam.carve.dev", "kind": "IPPool", "name": s.name}}
	if cluster != "" {
		spec["clusterName"] = cluster
		claim.SetLabels(map[string]string{"cluster.x-k8s.io/cluster-name": cluster})
	}
	claim.Object["spec"] = spec
	require.NoError(s, world.Client.Create(s.Context(), claim))
	return claim
}

func (s story) eventually(what string, done func() bool) {
	s.Helper()
	require.Eventually(s, done, 5*time.Minute, 50*time.Millisecond, what)
}

// ready waits until the condition Ready of a claim has a status and a reason, and returns the claim's address.
func (s story) ready(claim *unstructured.Unstructured, status, reason string) *unstructured.Unstructured {
	s.Helper()
	s.eventually(reason, func() bool {
		require.NoError(s, world.Client.Get(s.Context(), client.ObjectKeyFromObject(claim), claim))
		all, _, _ := unstructured.NestedSlice(claim.Object, "status", "conditions")
		for _, c := range all {
			if c, ok := c.(map[string]any); ok && c["type"] == "Ready" {
				return c["status"] == status && c["reason"] == reason
			}
		}
		return false
	})
	address := s.object("IPAddress", claim.GetName())
	if status == "True" {
		require.NoError(s, world.Client.Get(s.Context(), client.ObjectKeyFromObject(claim), address))
	}
	return address
}

func (s story) vanishes(o client.Object) {
	s.Helper()
	s.eventually("gone", func() bool {
		err := world.Client.Get(s.Context(), client.ObjectKeyFromObject(o), o)
		return err != nil && client.IgnoreNotFound(err) == nil
	})
}

func (s story) held() (n int) {
	s.Helper()
	for _, err := range world.Carve.Claims(s.Context(), s.name) {
		require.NoError(s, err)
		n++
	}
	return n
}

func TestIPAddressClaimGetsItsAddressAndReleasesIt(t *testing.T) {
	s := begin(t)
	stop := s.run()
	claim := s.claim("machine-0", "")
	address := s.ready(claim, "True", "Allocated")
	spec, _, _ := unstructured.NestedMap(address.Object, "spec")
	require.Equal(t, map[string]any{
		"address": "10.20.0.0", "prefix": int64(30), "claimRef": map[string]any{"name": "machine-0"},
		"poolRef": map[string]any{"apiGroup": "ipam.carve.dev", "kind": "IPPool", "name": s.name},
	}, spec)
	name, _, _ := unstructured.NestedString(claim.Object, "status", "addressRef", "name")
	require.Equal(t, "machine-0", name)
	require.NotEmpty(t, address.GetFinalizers())
	require.Equal(t, claim.GetUID(), meta.GetControllerOf(address).UID)
	require.Len(t, address.GetOwnerReferences(), 2)
	require.Equal(t, 1, s.held())

	stop()
	require.NoError(t, world.Client.Delete(t.Context(), claim))
	require.Equal(t, 1, s.held())
	s.run()
	s.vanishes(claim)
	s.vanishes(address)
	require.Zero(t, s.held())
}

func TestClaimsOnAFullPoolWaitForARelease(t *testing.T) {
	s := begin(t)
	s.run()
	var claims []*unstructured.Unstructured
	for _, name := range []string{"a", "b", "c", "d"} {
		claims = append(claims, s.claim(name, ""))
	}
	for _, claim := range claims {
		s.ready(claim, "True", "Allocated")
	}
	late := s.claim("late", "")
	s.ready(late, "False", "PoolExhausted")
	require.NoError(t, world.Client.Delete(t.Context(), claims[0]))
	s.ready(late, "True", "Allocated")
}

func TestPausedClusterGetsNoAddress(t *testing.T) {
	t.Parallel()
	s := begin(t)
	cluster := s.object("Cluster", "blue")
	cluster.Object["spec"] = map[string]any{"paused": true}
	require.NoError(t, world.Client.Create(t.Context(), cluster))
	s.run()
	paused := s.claim("paused", "blue")
	s.ready(s.claim("other", ""), "True", "Allocated")
	require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(paused), paused))
	require.Empty(t, paused.GetFinalizers())
	require.NoError(t, unstructured.SetNestedField(cluster.Object, false, "spec", "paused"))
	require.NoError(t, world.Client.Update(t.Context(), cluster))
	address := s.ready(paused, "True", "Allocated")
	require.Equal(t, "blue", address.GetLabels()["cluster.x-k8s.io/cluster-name"])

	require.NoError(t, world.Client.Delete(t.Context(), cluster)) // the deletion continues when the cluster is gone
	require.NoError(t, world.Client.Delete(t.Context(), paused))
	s.vanishes(paused)
}

func TestForeignIPAddressIsLeftUnchanged(t *testing.T) {
	s := begin(t)
	other := s.object("IPAddress", "machine-0")
	other.Object["spec"] = map[string]any{
		"address": "192.0.2.1", "prefix": int64(24), "claimRef": map[string]any{"name": "machine-0"},
		"poolRef": map[string]any{"apiGroup": "example.org", "kind": "Pool", "name": "pool"},
	}
	require.NoError(t, world.Client.Create(t.Context(), other))
	s.run()
	claim := s.claim("machine-0", "")
	s.ready(claim, "False", "AllocationFailed")
	require.NoError(t, world.Client.Delete(t.Context(), claim))
	s.vanishes(claim)
	require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(other), other))
	require.Zero(t, s.held())
}
