package patch_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	api "k8s.io/apimachinery/pkg/api/errors"
	condition "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/patch"
)

// recorder is a client of the real API server that counts the requests.
type recorder struct {
	client.Client
	calls []string
}

func record(t *testing.T) *recorder {
	t.Helper()
	r := &recorder{}
	direct, err := client.NewWithWatch(world.Config, client.Options{})
	require.NoError(t, err)
	r.Client = interceptor.NewClient(direct, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, rules ...client.PatchOption) error {
			r.calls = append(r.calls, "patch")
			return c.Patch(ctx, o, p, rules...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, rules ...client.SubResourcePatchOption) error {
			r.calls = append(r.calls, "patch "+sub)
			return c.SubResource(sub).Patch(ctx, o, p, rules...)
		},
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, rules ...client.GetOption) error {
			r.calls = append(r.calls, "get")
			return c.Get(ctx, key, o, rules...)
		},
	})
	return r
}

// claim creates an IPClaim and returns it as the API server has it.
func claim(t *testing.T) *ipam.IPClaim {
	t.Helper()
	ns := core.Namespace{ObjectMeta: meta.ObjectMeta{GenerateName: "patch-"}}
	require.NoError(t, world.Client.Create(t.Context(), &ns))
	c := &ipam.IPClaim{ObjectMeta: meta.ObjectMeta{Namespace: ns.Name, Name: "web", Annotations: map[string]string{"note": "1"}}}
	require.NoError(t, world.Client.Create(t.Context(), c))
	return c
}

func helper(t *testing.T, o client.Object, by client.Client) *patch.Helper {
	t.Helper()
	h, err := patch.NewPatchHelper(o, by)
	require.NoError(t, err)
	return h
}

// reread returns an object as the API server has it now.
func reread(t *testing.T, c *ipam.IPClaim) *ipam.IPClaim {
	t.Helper()
	now := new(ipam.IPClaim)
	require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(c), now))
	return now
}

func ready(status meta.ConditionStatus, reason, message string) meta.Condition {
	return meta.Condition{Type: "Ready", Status: status, Reason: reason, Message: message}
}

func TestPatchSendsNothingForAnUnchangedObject(t *testing.T) {
	t.Parallel()
	c, by := claim(t), record(t)
	h := helper(t, c, by)
	changed, err := h.HasChanges(c)
	require.NoError(t, err)
	require.False(t, changed)
	require.NoError(t, h.Patch(t.Context(), c))
	require.Empty(t, by.calls)
}

func TestPatchSendsMetadataBeforeTheStatusInTwoRequests(t *testing.T) {
	t.Parallel()
	c, by := claim(t), record(t)
	h := helper(t, c, by)
	c.Annotations["note"] = "2"
	c.Finalizers = []string{ipam.Finalizer}
	c.Labels = map[string]string{"example.com/b": "d"}
	c.Status.CIDR = "10.0.0.0/28"
	condition.SetStatusCondition(&c.Status.Conditions, ready(meta.ConditionTrue, "Held", `<a> & "b"`))
	changed, err := h.HasChanges(c)
	require.NoError(t, err)
	require.True(t, changed)
	require.NoError(t, h.Patch(t.Context(), c))
	require.Equal(t, []string{"patch", "patch status"}, by.calls)
	now := reread(t, c)
	require.Equal(t, c.ObjectMeta, now.ObjectMeta)
	require.Equal(t, c.Status, now.Status)
	require.Equal(t, "2", now.Annotations["note"])
	require.Equal(t, "d", now.Labels["example.com/b"])
	require.Equal(t, "10.0.0.0/28", now.Status.CIDR)

	by.calls = nil // the helper compares with the written object now
	condition.SetStatusCondition(&c.Status.Conditions, ready(meta.ConditionFalse, "Lost", `<a> & "c"`))
	require.NoError(t, h.Patch(t.Context(), c))
	require.Equal(t, []string{"patch status"}, by.calls)
	c.Finalizers, c.Labels, c.Annotations, c.Status.CIDR = nil, nil, nil, ""
	require.NoError(t, h.Patch(t.Context(), c))
	now = reread(t, c)
	require.Empty(t, now.Finalizers)
	require.Empty(t, now.Annotations)
	require.Empty(t, now.Status.CIDR)
	require.Equal(t, "Lost", now.Status.Conditions[0].Reason)
}

// Other clients write annotations, a finalizer, a condition and another field while the test changes an old copy.
func TestPatchOfAnOldCopyKeepsOtherWritersChanges(t *testing.T) {
	t.Parallel()
	c := claim(t)
	first := helper(t, c, world.Client)
	c.Finalizers = []string{"example.com/first"}
	condition.SetStatusCondition(&c.Status.Conditions, ready(meta.ConditionTrue, "Held", "held"))
	require.NoError(t, first.Patch(t.Context(), c))
	old, by := reread(t, c), record(t)
	mine := helper(t, old, by)

	other := helper(t, c, world.Client)
	c.Annotations["other"] = "x"
	c.Finalizers = append(c.Finalizers, "example.com/other")
	c.Status.Pool = "other/pool"
	condition.SetStatusCondition(&c.Status.Conditions, meta.Condition{Type: "Other", Status: meta.ConditionTrue, Reason: "Other"})
	require.NoError(t, other.Patch(t.Context(), c))

	old.Annotations["mine"] = "y"
	old.Finalizers = append(old.Finalizers, "example.com/mine")
	old.Status.CIDR = "10.0.0.0/28"
	condition.SetStatusCondition(&old.Status.Conditions, ready(meta.ConditionFalse, "Lost", "lost"))
	condition.SetStatusCondition(&old.Status.Conditions, meta.Condition{Type: "Mine", Status: meta.ConditionTrue, Reason: "Mine"})
	require.NoError(t, mine.Patch(t.Context(), old))
	require.Equal(t, []string{"patch", "patch status"}, by.calls)
	now := reread(t, c)
	require.Equal(t, map[string]string{"note": "1", "other": "x", "mine": "y"}, now.Annotations)
	require.Equal(t, []string{"example.com/first", "example.com/other", "example.com/mine"}, now.Finalizers)
	require.Equal(t, "other/pool", now.Status.Pool)
	require.Equal(t, "10.0.0.0/28", now.Status.CIDR)
	require.Len(t, now.Status.Conditions, 3)
	require.True(t, condition.IsStatusConditionFalse(now.Status.Conditions, "Ready"))

	old.Finalizers = []string{"example.com/first", "example.com/other"} // one entry can go without the others
	require.NoError(t, mine.Patch(t.Context(), old))
	require.Equal(t, []string{"example.com/first", "example.com/other"}, reread(t, c).Finalizers)
}

func TestPatchConflictsWhenTheDecisionIsOld(t *testing.T) {
	t.Parallel()
	users := func(names ...string) (all []ipam.PodReference) {
		for _, n := range names {
			all = append(all, ipam.PodReference{Name: n, UID: "1"})
		}
		return all
	}
	for name, row := range map[string]struct {
		other, mine func(*ipam.IPClaim)
		while       []patch.Option
	}{
		"SameField": {
			other: func(c *ipam.IPClaim) { c.Status.CIDR = "10.0.0.0/28" },
			mine:  func(c *ipam.IPClaim) { c.Status.CIDR = "10.0.0.16/28" },
		},
		"SameAnnotation": {
			other: func(c *ipam.IPClaim) { c.Annotations["note"] = "2" },
			mine:  func(c *ipam.IPClaim) { c.Annotations["note"] = "3" },
		},
		"SameList": {
			other: func(c *ipam.IPClaim) { c.Status.ReservedFor = users("a") },
			mine:  func(c *ipam.IPClaim) { c.Status.ReservedFor = users("b") },
		},
		"SameCondition": {
			other: func(c *ipam.IPClaim) { c.Status.Conditions[0].Status = meta.ConditionFalse },
			mine:  func(c *ipam.IPClaim) { c.Status.Conditions[0].Status = meta.ConditionUnknown },
		},
		"FieldThatTheDecisionDependsOn": {
			other: func(c *ipam.IPClaim) { c.Status.Claim = &ipam.RemoteClaim{Project: "p", Name: "n", UID: "u"} },
			mine:  func(c *ipam.IPClaim) { c.Status.Conditions[0].Message = "<old>" },
			while: []patch.Option{patch.While("status", "claim", "uid")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := claim(t)
			h := helper(t, c, world.Client)
			condition.SetStatusCondition(&c.Status.Conditions, ready(meta.ConditionTrue, "Held", "held"))
			require.NoError(t, h.Patch(t.Context(), c))
			old := reread(t, c)
			mine := helper(t, old, world.Client)
			row.other(c)
			require.NoError(t, h.Patch(t.Context(), c))
			row.mine(old)
			err := mine.Patch(t.Context(), old, row.while...)
			require.True(t, api.IsConflict(err), "%v", err)
			require.Equal(t, c.Status, reread(t, c).Status)
			require.Equal(t, c.ObjectMeta, reread(t, c).ObjectMeta)
		})
	}
}

func TestPatchConflictsForAnotherObjectOfTheName(t *testing.T) {
	t.Parallel()
	c := claim(t)
	h := helper(t, c, world.Client)
	require.NoError(t, world.Client.Delete(t.Context(), c))
	again := &ipam.IPClaim{ObjectMeta: meta.ObjectMeta{Namespace: c.Namespace, Name: c.Name, Annotations: c.Annotations}}
	require.NoError(t, world.Client.Create(t.Context(), again))
	c.Annotations = map[string]string{"note": "2"}
	require.True(t, api.IsConflict(h.Patch(t.Context(), c)))
	require.Equal(t, "1", reread(t, c).Annotations["note"])
}

func TestPatchConflictsForAFinalizerDuringADeletion(t *testing.T) {
	t.Parallel()
	c := claim(t)
	h := helper(t, c, world.Client)
	c.Finalizers = []string{"example.com/first"}
	require.NoError(t, h.Patch(t.Context(), c))
	late := reread(t, c)
	second := helper(t, late, world.Client)
	require.NoError(t, world.Client.Delete(t.Context(), c))
	late.Finalizers = append(late.Finalizers, "example.com/second")
	require.True(t, api.IsConflict(second.Patch(t.Context(), late)))
	gone := reread(t, c) // the removal of the last finalizer deletes the object before the status could be written
	last := helper(t, gone, world.Client)
	gone.Finalizers, gone.Status.Pool = nil, "p/q"
	require.NoError(t, last.Patch(t.Context(), gone))
	require.True(t, api.IsNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c)))
}

func TestPatchReportsAnInvalidStatusAsInvalid(t *testing.T) {
	t.Parallel()
	c := claim(t)
	h := helper(t, c, world.Client)
	for i := range 257 {
		c.Status.ReservedFor = append(c.Status.ReservedFor, ipam.PodReference{Name: "p", UID: types.UID(fmt.Sprint(i))})
	}
	require.True(t, api.IsInvalid(h.Patch(t.Context(), c)))
}

func TestPatchWritesObjectsWithoutGoTypes(t *testing.T) {
	t.Parallel()
	c := claim(t)
	o := new(unstructured.Unstructured)
	o.SetGroupVersionKind(ipam.GroupVersion.WithKind("IPClaim"))
	require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(c), o))
	h := helper(t, o, world.Client)
	require.NoError(t, unstructured.SetNestedField(o.Object, "10.0.0.0/28", "status", "cidr"))
	require.NoError(t, unstructured.SetNestedField(o.Object, int64(3), "status", "observedGeneration"))
	o.SetFinalizers([]string{"example.com/first"})
	require.NoError(t, h.Patch(t.Context(), o))
	require.Equal(t, "IPClaim", o.GetKind())
	now := reread(t, c)
	require.Equal(t, "10.0.0.0/28", now.Status.CIDR)
	require.Equal(t, int64(3), now.Status.ObservedGeneration)
	require.Equal(t, o.GetResourceVersion(), now.ResourceVersion)
	node := new(meta.PartialObjectMetadata)
	node.SetGroupVersionKind(core.SchemeGroupVersion.WithKind("Node"))
	full := &core.Node{ObjectMeta: meta.ObjectMeta{GenerateName: "node-"}}
	require.NoError(t, world.Client.Create(t.Context(), full))
	require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(full), node))
	h = helper(t, node, world.Client)
	node.Annotations = map[string]string{"slice": "<10.0.0.0/28>"}
	require.NoError(t, h.Patch(t.Context(), node))
	require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(full), full))
	require.Equal(t, "<10.0.0.0/28>", full.Annotations["slice"])
}

func TestPatchHelperRefusesAnObjectThatWasNotRead(t *testing.T) {
	t.Parallel()
	_, err := patch.NewPatchHelper(&ipam.IPClaim{}, world.Client)
	require.ErrorContains(t, err, "no UID")
}
