package installed_test

import (
	"maps"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	events "k8s.io/api/events/v1"
	condition "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
	"github.com/carve-ipam/carve/controller/internal/entries"
)

// everything lists the program's actions by name, with all actions that need a right.
var everything = []struct {
	name string
	in   func(story)
}{
	{"a claim is held and released", func(s story) {
		c := s.claim("web", one)
		s.bound(c)
		require.NoError(s, world.Client.Delete(s.Context(), c))
		s.vanishes(c)
	}},
	{"a pod's claim goes with it", func(s story) {
		p, owner := s.pod("worker")
		c := s.claim("worker-net", one, owner)
		s.bound(c)
		s.remove(p)
		s.vanishes(c)
	}},
	{"what is said again is one event with a count", func(s story) {
		s.create(&core.ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: "of-others"}})
		c := s.claim("publishes", one)
		s.bound(c)
		for _, look := range []string{"once", "again"} {
			s.annotate(c, map[string]string{ipam.PublishAnnotation: "ConfigMap/of-others", "example.com/look": look})
			s.eventually("it is told "+look, func() bool { return s.told(c.UID) >= map[string]int32{"once": 1, "again": 2}[look] })
		}
		require.NoError(s, world.Client.Delete(s.Context(), c))
		s.vanishes(c)
	}},
	{"a pod asks for claims", func(s story) {
		s.create(&ipam.IPClaimTemplate{ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: "one"}, Spec: ipam.IPClaimTemplateSpec{Spec: one}})
		p, _ := s.pod("asking")
		taken := s.claim(entries.ClaimName(p.Name, p.UID, "net1", 0), one) // another owner has the name
		p.Annotations = map[string]string{ipam.ClaimsAnnotation: `[{"name": "net1", "template": "one"}]`}
		require.NoError(s, world.Client.Update(s.Context(), p))
		s.eventually("the pod is told its block", func() bool {
			s.get(p)
			return entries.OutcomesOf(p)["net1"].CIDR != ""
		})
		made := &ipam.IPClaim{ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: entries.OutcomesOf(p)["net1"].Claim}}
		s.remove(p)
		s.vanishes(made)
		require.NoError(s, world.Client.Delete(s.Context(), taken))
		s.vanishes(taken)
	}},
	{"pools and classes are mirrored", func(s story) {
		pool := &ipam.IPPool{ObjectMeta: meta.ObjectMeta{Name: "mirrored"}, Spec: ipam.IPPoolSpec{CIDR: "10.30.0.0/28"}}
		s.create(pool)
		s.eventually("the pool is there", func() bool { s.get(pool); return pool.Status.CIDR != "" })
		class := &ipam.IPClass{ObjectMeta: meta.ObjectMeta{Name: "mirrored"}, Spec: ipam.IPClassSpec{IPFamily: "IPv4"}}
		s.create(class)
		s.eventually("the class is there", func() bool {
			s.get(class)
			return condition.IsStatusConditionTrue(class.Status.Conditions, conditions.Ready)
		})
		require.NoError(s, world.Client.Delete(s.Context(), class))
		s.vanishes(class)
		require.NoError(s, world.Client.Delete(s.Context(), pool))
		s.vanishes(pool)
	}},
	{"nodes have slices", func(s story) {
		address, slice := int32(32), int32(28)
		class := &ipam.IPClass{ObjectMeta: meta.ObjectMeta{Name: "sliced"}, Spec: ipam.IPClassSpec{
			IPFamily: "IPv4", PoolPer: []ipam.Name{"project", "node"}, PoolPrefixLength: &slice, DefaultPrefixLength: &address,
		}}
		pool := &ipam.IPPool{ObjectMeta: meta.ObjectMeta{Name: "sliced"}, Spec: ipam.IPPoolSpec{CIDR: "10.60.0.0/24", ClassNames: []ipam.Name{"sliced"}}}
		node := &core.Node{ObjectMeta: meta.ObjectMeta{Name: s.name}}
		slices := &ipam.NodeSlicePool{ObjectMeta: meta.ObjectMeta{Name: "sliced"}, Spec: ipam.NodeSlicePoolSpec{ClassName: "sliced"}}
		for _, object := range []client.Object{class, pool, node, slices} {
			s.create(object)
		}
		s.eventually("the node is told its slice", func() bool {
			s.get(node)
			return len(node.Annotations) > 0
		})
		for _, object := range []client.Object{slices, node, pool, class} {
			require.NoError(s, world.Client.Delete(s.Context(), object))
			s.vanishes(object)
		}
	}},
	{"claims of Cluster API are served", func(s story) {
		pool := &ipam.IPPool{ObjectMeta: meta.ObjectMeta{Name: "machines"}, Spec: ipam.IPPoolSpec{CIDR: "10.70.0.0/24"}}
		s.create(pool)
		s.apply(map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": map[string]any{"name": "blue"}})
		claim := s.apply(map[string]any{
			"apiVersion": "ipam.cluster.x-k8s.io/v1beta2", "kind": "IPAddressClaim", "metadata": map[string]any{"name": "machine"},
			"spec": map[string]any{"clusterName": "blue", "poolRef": map[string]any{"apiGroup": "ipam.carve.dev", "kind": "IPPool", "name": "machines"}},
		})
		s.looks(claim, map[string]any{"status": map[string]any{"addressRef": map[string]any{"name": "machine"}}})
		for _, object := range []client.Object{claim, pool} {
			require.NoError(s, world.Client.Delete(s.Context(), object))
			s.vanishes(object)
		}
	}},
	{"blocks are published", func(s story) {
		for kind, object := range map[string]client.Object{
			"ConfigMap": &core.ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: "block"}},
			"Secret":    &core.Secret{ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: "block"}},
		} {
			c := s.claim("published", one)
			s.annotate(c, map[string]string{ipam.PublishAnnotation: kind + "/block"})
			s.eventually("it is written", func() bool { return world.Client.Get(s.Context(), client.ObjectKeyFromObject(object), object) == nil })
			spoil(object)
			require.NoError(s, world.Client.Update(s.Context(), object))
			spoilt := object.GetResourceVersion()
			s.annotate(c, map[string]string{ipam.PublishAnnotation: kind + "/block", "example.com/look": "again"})
			s.eventually("it is mended", func() bool { s.get(object); return object.GetResourceVersion() != spoilt })
			s.annotate(c, nil)
			s.vanishes(object)
			require.NoError(s, world.Client.Delete(s.Context(), c))
			s.vanishes(c)
		}
	}},
}

// told returns how often an event about an object was recorded.
func (s story) told(uid types.UID) int32 {
	s.Helper()
	var all events.EventList
	if world.Client.List(s.Context(), &all, client.InNamespace(s.name)) != nil {
		return 0
	}
	for i := range all.Items {
		switch e := &all.Items[i]; {
		case e.Regarding.UID != uid:
		case e.Series != nil:
			return e.Series.Count
		default:
			return 1
		}
	}
	return 0
}

// annotate replaces a claim's annotations, except for the program's own.
func (s story) annotate(c *ipam.IPClaim, annotations map[string]string) {
	s.Helper()
	s.eventually("it is annotated", func() bool {
		s.get(c)
		if was := c.Annotations[ipam.PublishedAnnotation]; was != "" { // keep the program's own annotation
			annotations = maps.Clone(annotations)
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[ipam.PublishedAnnotation] = was
		}
		c.Annotations = annotations
		return world.Client.Update(s.Context(), c) == nil
	})
}

// spoil deletes an object's content.
func spoil(object client.Object) {
	switch o := object.(type) {
	case *core.ConfigMap:
		o.Data = nil
	case *core.Secret:
		o.Data = nil
	}
}
