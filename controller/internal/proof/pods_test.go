package proof_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	api "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/entries"
)

// attempt is a label that identifies the pod of one creation. After a lost response, it distinguishes that pod from an earlier pod with the same
// name.
const attempt = "proof/attempt"

var errOther = errors.New("another pod has the name")

// asks returns the annotation by which a pod requests claims.
func asks(claims int) map[string]string {
	var all []entries.Entry
	for i := range claims {
		all = append(all, entries.Entry{Name: fmt.Sprintf("net%d", i), Template: template})
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return map[string]string{ipam.ClaimsAnnotation: string(text)}
}

// starts creates a pod, on a node if one is named. The pod requests its claims by its annotation, or starts creates them.
func (w *world) starts(ctx context.Context, name, node string, claims int, annotated bool) *life {
	mark := string(uuid.NewUUID())
	var pod *core.Pod
	w.do(ctx, "make the pod "+name, func() error {
		pod = &core.Pod{
			ObjectMeta: meta.ObjectMeta{Namespace: w.name, Name: name, Labels: map[string]string{attempt: mark}},
			Spec:       core.PodSpec{NodeName: node, Containers: []core.Container{{Name: "c", Image: "i"}}},
		}
		if annotated {
			pod.Annotations = asks(claims)
		}
		err := w.api.Create(ctx, pod)
		if api.IsAlreadyExists(err) {
			if err = w.api.Get(ctx, client.ObjectKeyFromObject(pod), pod); err == nil && pod.Labels[attempt] != mark {
				err = errOther
			}
		}
		return err
	})
	l := &life{
		uid: pod.UID, pod: client.ObjectKeyFromObject(pod), node: node, wants: claims,
		claims: map[types.UID]string{}, made: map[string]types.UID{}, seen: map[types.UID]sight{},
	}
	w.knows(l)
	for i := range claims {
		if annotated {
			break
		}
		w.claims(ctx, l, fmt.Sprintf("%s-net%d-%.8s", name, i, l.uid))
	}
	if node != "" {
		w.phase(ctx, l, core.PodRunning, "")
	}
	return l
}

// claims creates a claim that a pod owns.
func (w *world) claims(ctx context.Context, l *life, name string) {
	yes, length := true, int32(32)
	var claim *ipam.IPClaim
	w.do(ctx, "make the claim "+name, func() error {
		claim = &ipam.IPClaim{
			ObjectMeta: meta.ObjectMeta{Namespace: w.name, Name: name, OwnerReferences: []meta.OwnerReference{
				{APIVersion: "v1", Kind: "Pod", Name: l.pod.Name, UID: l.uid, Controller: &yes},
			}},
			Spec: ipam.IPClaimSpec{PoolRef: &ipam.PoolRef{Name: "pool"}, PrefixLength: &length},
		}
		err := w.api.Create(ctx, claim)
		if api.IsAlreadyExists(err) {
			err = w.api.Get(ctx, client.ObjectKeyFromObject(claim), claim)
		}
		return err
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	l.claims[claim.UID] = name
}

// timed creates a pod without a node that requests one claim. It returns the time that the API server needed.
func (w *world) timed(ctx context.Context, name string) (*life, time.Duration) {
	began := time.Now()
	l := w.starts(ctx, name, "", 1, true)
	return l, time.Since(began)
}

// withdraws deletes the claims of a pod that has their blocks, as a user might by mistake.
func (w *world) withdraws(ctx context.Context, l *life) {
	w.mu.Lock()
	claims, seen := maps.Clone(l.claims), maps.Clone(l.seen)
	w.mu.Unlock()
	for uid, name := range claims {
		if _, has := seen[uid]; !has {
			continue
		}
		claim := &ipam.IPClaim{ObjectMeta: meta.ObjectMeta{Namespace: w.name, Name: name}}
		w.do(ctx, "delete the claim "+name, func() error { return w.api.Delete(ctx, claim, client.Preconditions{UID: &uid}) })
	}
}

func (l *life) object() *core.Pod {
	return &core.Pod{ObjectMeta: meta.ObjectMeta{Namespace: l.pod.Namespace, Name: l.pod.Name, UID: l.uid}}
}

// phase writes a pod's phase, as a kubelet or the node controller does.
func (w *world) phase(ctx context.Context, l *life, phase core.PodPhase, reason string) {
	text := fmt.Sprintf(`{"metadata":{"uid":%q},"status":{"phase":%q,"reason":%q,"message":%q}}`, l.uid, phase, reason, time.Now())
	w.do(ctx, "say the phase of "+l.pod.Name, func() error {
		return w.api.Status().Patch(ctx, l.object(), client.RawPatch(types.MergePatchType, []byte(text)))
	})
}

// taints marks a pod as the taint manager does.
func (w *world) taints(ctx context.Context, l *life) {
	text := fmt.Sprintf(`{"metadata":{"uid":%q},"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"DeletionByTaintManager"}]}}`, l.uid)
	w.do(ctx, "mark "+l.pod.Name, func() error {
		return w.api.Status().Patch(ctx, l.object(), client.RawPatch(types.StrategicMergePatchType, []byte(text)))
	})
}

// binds gives a pod a node, as the scheduler does.
func (w *world) binds(ctx context.Context, l *life, node string) {
	l.node = node
	w.do(ctx, "bind "+l.pod.Name, func() error {
		err := w.api.SubResource("binding").Create(ctx, l.object(), &core.Binding{Target: core.ObjectReference{Kind: "Node", Name: node}})
		if api.IsConflict(err) { // the binding exists, and its response was lost
			err = nil
		}
		return err
	})
	w.phase(ctx, l, core.PodRunning, "")
}

// deletes begins the deletion of a pod. A pod without a node is gone at once.
func (w *world) deletes(ctx context.Context, l *life) {
	w.do(ctx, "delete "+l.pod.Name, func() error {
		return gone(w.api.Delete(ctx, l.object(), client.Preconditions{UID: &l.uid}))
	})
}

// evicts begins the deletion of a pod as `kubectl drain` does.
func (w *world) evicts(ctx context.Context, l *life) {
	w.do(ctx, "evict "+l.pod.Name, func() error {
		eviction := &policy.Eviction{DeleteOptions: &meta.DeleteOptions{Preconditions: &meta.Preconditions{UID: &l.uid}}}
		return gone(w.api.SubResource("eviction").Create(ctx, l.object(), eviction))
	})
}

// removes deletes a pod without a grace period, as a kubelet does after the pod's end, or a user by force.
func (w *world) removes(ctx context.Context, l *life) {
	w.ends(l)
	w.do(ctx, "remove "+l.pod.Name, func() error {
		return gone(w.api.Delete(ctx, l.object(), client.GracePeriodSeconds(0), client.Preconditions{UID: &l.uid}))
	})
}

// gone returns no error if the pod does not exist, or if another pod has its name.
func gone(err error) error {
	if api.IsNotFound(err) || api.IsConflict(err) {
		return nil
	}
	return err
}

// node creates or deletes a node.
func (w *world) node(ctx context.Context, name string, there bool) {
	node := &core.Node{ObjectMeta: meta.ObjectMeta{Name: name}}
	w.do(ctx, "change the node "+name, func() error {
		if there {
			return client.IgnoreAlreadyExists(w.api.Create(ctx, node))
		}
		return client.IgnoreNotFound(w.api.Delete(ctx, node))
	})
}
