package install

import (
	"context"
	"maps"
	"testing"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// controllers do the work of controller manager and scheduler for the Deployments and Jobs of one namespace. After each change they read everything
// and make the next step.
type controllers struct {
	t         *testing.T
	clients   kubernetes.Interface
	namespace string
	kubelet   *kubelet
	wake      chan struct{}
	seen      func(pods []core.Pod)
}

// play starts them for a namespace, until the test ends.
func play(t *testing.T, plane *controlPlane, namespace string, seen func([]core.Pod)) *controllers {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c := &controllers{t: t, clients: plane, namespace: namespace, wake: make(chan struct{}, 1), seen: seen}
	c.kubelet = &kubelet{t: t, clients: plane, dir: openDir(t, "carve-pods-"), wake: c.poke, pods: map[types.UID]*podRun{}}
	for _, w := range []func(context.Context, meta.ListOptions) (watch.Interface, error){
		plane.AppsV1().Deployments(namespace).Watch, plane.BatchV1().Jobs(namespace).Watch, plane.CoreV1().Pods(namespace).Watch,
	} {
		watching, err := w(ctx, meta.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for range watching.ResultChan() {
				c.poke()
			}
			if ctx.Err() == nil {
				t.Error("the API server ended a watch")
			}
		}()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-c.wake:
				if err := c.step(ctx); err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
					t.Errorf("the played controllers: %v", err)
				}
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		c.kubelet.alive.Wait()
	})
	return c
}

func (c *controllers) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// pokeAfter schedules another pass, for conditions that only depend on time.
func (c *controllers) pokeAfter(d time.Duration) { time.AfterFunc(d, c.poke) }

func (c *controllers) step(ctx context.Context) error {
	deployments, err := c.clients.AppsV1().Deployments(c.namespace).List(ctx, meta.ListOptions{})
	if err != nil {
		return err
	}
	jobs, err := c.clients.BatchV1().Jobs(c.namespace).List(ctx, meta.ListOptions{})
	if err != nil {
		return err
	}
	pods, err := c.clients.CoreV1().Pods(c.namespace).List(ctx, meta.ListOptions{})
	if err != nil {
		return err
	}
	c.kubelet.forget(pods.Items)
	owned := map[types.UID][]core.Pod{}
	for _, pod := range pods.Items {
		for _, owner := range pod.OwnerReferences {
			owned[owner.UID] = append(owned[owner.UID], pod)
		}
		if pod.Spec.NodeName == "" { // the scheduler's work, with one node
			if err := c.clients.CoreV1().Pods(c.namespace).Bind(ctx, &core.Binding{ObjectMeta: meta.ObjectMeta{Name: pod.Name}, Target: core.ObjectReference{Kind: "Node", Name: "loopback"}}, meta.CreateOptions{}); err != nil {
				return err
			}
			continue
		}
		c.kubelet.sync(ctx, &pod)
	}
	c.seen(pods.Items)
	for i := range jobs.Items {
		if err := c.job(ctx, &jobs.Items[i], owned[jobs.Items[i].UID]); err != nil {
			return err
		}
		delete(owned, jobs.Items[i].UID)
	}
	for i := range deployments.Items {
		if err := c.deployment(ctx, &deployments.Items[i], owned[deployments.Items[i].UID]); err != nil {
			return err
		}
		delete(owned, deployments.Items[i].UID)
	}
	for _, orphans := range owned { // their owner is gone: the garbage collector's work
		for _, pod := range orphans {
			if err := c.remove(ctx, &pod); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *controllers) job(ctx context.Context, job *batch.Job, pods []core.Pod) error {
	for _, condition := range job.Status.Conditions {
		if condition.Status == core.ConditionTrue && (condition.Type == batch.JobComplete || condition.Type == batch.JobFailed) {
			return nil
		}
	}
	status := *job.Status.DeepCopy()
	now := meta.Now()
	if status.StartTime == nil {
		status.StartTime = &now
	}
	status.Succeeded, status.Failed, status.Active = 0, 0, 0
	for _, pod := range pods {
		switch pod.Status.Phase {
		case core.PodSucceeded:
			status.Succeeded++
		case core.PodFailed:
			status.Failed++
		default:
			status.Active++
		}
	}
	end := func(kinds ...batch.JobConditionType) {
		for _, kind := range kinds {
			status.Conditions = append(status.Conditions, batch.JobCondition{Type: kind, Status: core.ConditionTrue, LastTransitionTime: now, LastProbeTime: now})
		}
	}
	switch {
	case status.Succeeded > 0:
		status.CompletionTime, status.Active = &now, 0
		end(batch.JobSuccessCriteriaMet, batch.JobComplete)
	case status.Failed > *job.Spec.BackoffLimit:
		status.Active = 0
		end(batch.JobFailureTarget, batch.JobFailed)
	case status.Active == 0:
		return c.create(ctx, job, batch.SchemeGroupVersion.WithKind("Job"), job.Spec.Template, nil)
	}
	if equality.Semantic.DeepEqual(status, job.Status) {
		return nil
	}
	job.Status = status
	_, err := c.clients.BatchV1().Jobs(c.namespace).UpdateStatus(ctx, job, meta.UpdateOptions{})
	return err
}

// create makes a pod from a template.
func (c *controllers) create(ctx context.Context, owner meta.Object, kind schema.GroupVersionKind, template core.PodTemplateSpec, labels map[string]string) error {
	pod := &core.Pod{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: *template.Spec.DeepCopy()}
	pod.GenerateName = owner.GetName() + "-"
	pod.OwnerReferences = []meta.OwnerReference{*meta.NewControllerRef(owner, kind)}
	maps.Copy(pod.Labels, labels)
	_, err := c.clients.CoreV1().Pods(c.namespace).Create(ctx, pod, meta.CreateOptions{})
	return err
}

func (c *controllers) remove(ctx context.Context, pod *core.Pod) error {
	if pod.DeletionTimestamp != nil {
		return nil
	}
	err := c.clients.CoreV1().Pods(c.namespace).Delete(ctx, pod.Name, meta.DeleteOptions{Preconditions: meta.NewUIDPreconditions(string(pod.UID))})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
