package install

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
)

// kubelet makes processes from pods, and reports their status to the API server.
type kubelet struct {
	t       *testing.T
	clients *controlPlane
	dir     string
	wake    func()
	alive   sync.WaitGroup

	mu   sync.Mutex
	next int
	pods map[types.UID]*podRun
	ran  []*podRun // all pods that ever ran, for the tests
}

// podRun is a running or finished pod.
type podRun struct {
	name, owner string
	args        []string
	asked       <-chan struct{} // closed when it must end
	stopping    context.CancelFunc
	grace       time.Duration

	mu       sync.Mutex
	sandbox  *sandbox
	output   []*transcript
	codes    []int
	killed   bool
	finished bool
}

// sync starts a new pod, and stops a pod that must be deleted.
func (k *kubelet) sync(ctx context.Context, pod *core.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	run := k.pods[pod.UID]
	if run == nil {
		if pod.DeletionTimestamp != nil {
			return
		}
		k.next++
		stopping, stop := context.WithCancel(ctx)
		run = &podRun{name: pod.Name, asked: stopping.Done(), stopping: stop, args: pod.Spec.Containers[0].Args}
		for _, owner := range pod.OwnerReferences {
			run.owner = owner.Kind + "/" + owner.Name
		}
		k.pods[pod.UID] = run
		k.ran = append(k.ran, run)
		ip := fmt.Sprintf("127.77.%d.%d", k.next/250, k.next%250+1)
		copied := pod.DeepCopy()
		k.alive.Go(func() { k.run(ctx, stopping, copied, run, ip) })
		return
	}
	if pod.DeletionTimestamp != nil {
		run.mu.Lock()
		run.grace = time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
		run.mu.Unlock()
		run.stopping()
	}
}

// forget stops the processes of pods that the API server no longer has: a finished pod is deleted without its kubelet.
func (k *kubelet) forget(there []core.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for uid, run := range k.pods {
		if !slices.ContainsFunc(there, func(p core.Pod) bool { return p.UID == uid }) {
			run.stopping()
			delete(k.pods, uid)
		}
	}
}

// run runs a pod until its end. ctx is the kubelet's; stopping ends when the pod must be deleted.
func (k *kubelet) run(ctx, stopping context.Context, pod *core.Pod, run *podRun, ip string) {
	defer func() {
		run.mu.Lock()
		run.finished = true
		run.mu.Unlock()
		k.wake()
	}()
	box, err := newSandbox(ctx, k.clients, pod, k.dir, ip)
	if err != nil {
		k.t.Errorf("pod %s cannot be made: %v", pod.Name, err)
		return
	}
	defer func() {
		if err := box.remove(); err != nil {
			k.t.Errorf("pod %s cannot be taken away: %v", pod.Name, err)
		}
	}()
	run.mu.Lock()
	run.sandbox = box
	run.mu.Unlock()
	phase := k.live(stopping, pod, run, box)
	if stopping.Err() == nil {
		k.status(ctx, pod, phase, ip, false)
		<-stopping.Done()
	}
	if ctx.Err() != nil {
		return
	}
	// The kubelet's final deletion: no process of the pod runs any more.
	zero := int64(0)
	_ = k.clients.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, meta.DeleteOptions{GracePeriodSeconds: &zero, Preconditions: meta.NewUIDPreconditions(string(pod.UID))})
}

// live runs the containers and returns the phase in which the pod ended by itself.
func (k *kubelet) live(stopping context.Context, pod *core.Pod, run *podRun, box *sandbox) core.PodPhase {
	again := pod.Spec.RestartPolicy == core.RestartPolicyAlways
	for i := range pod.Spec.InitContainers {
		for ok := false; !ok; {
			if ok = k.container(stopping, pod, run, box, &pod.Spec.InitContainers[i], false) == 0; !ok && (!again || !pause(stopping)) {
				return core.PodFailed
			}
		}
	}
	for {
		code := k.container(stopping, pod, run, box, &pod.Spec.Containers[0], true)
		switch {
		case stopping.Err() != nil:
			return core.PodFailed
		case !again && code == 0:
			return core.PodSucceeded
		case !again || !pause(stopping):
			return core.PodFailed
		}
	}
}

// container runs a container until it ends, the pod must stop, or its probes fail.
func (k *kubelet) container(stopping context.Context, pod *core.Pod, run *podRun, box *sandbox, c *core.Container, main bool) int {
	links := pod.Spec.EnableServiceLinks == nil || *pod.Spec.EnableServiceLinks
	p, err := box.start(c, links)
	if err != nil {
		k.t.Errorf("container %s of %s cannot be started: %v", c.Name, pod.Name, err)
		return 128
	}
	run.mu.Lock()
	run.output = append(run.output, p.output)
	run.mu.Unlock()
	background := context.WithoutCancel(stopping)
	if main {
		k.status(background, pod, core.PodRunning, box.ip, c.ReadinessProbe == nil)
		was := c.ReadinessProbe == nil
		alive := watchProbes(stopping, box.ip, c, p, func(ready bool) {
			if ready != was {
				was = ready
				k.status(background, pod, core.PodRunning, box.ip, ready)
			}
		})
		if !alive {
			p.stop(time.Duration(*pod.Spec.TerminationGracePeriodSeconds) * time.Second)
		}
	}
	select {
	case <-p.ended:
	case <-stopping.Done():
		run.mu.Lock()
		grace := run.grace
		run.mu.Unlock()
		killed := p.stop(grace)
		run.mu.Lock()
		run.killed = run.killed || killed
		run.mu.Unlock()
	}
	run.mu.Lock()
	run.codes = append(run.codes, p.exitCode())
	run.mu.Unlock()
	if main && stopping.Err() == nil {
		k.status(background, pod, core.PodRunning, box.ip, false)
	}
	return p.exitCode()
}

// status writes the status as a kubelet does. It ignores a pod that is already gone.
func (k *kubelet) status(ctx context.Context, pod *core.Pod, phase core.PodPhase, ip string, ready bool) {
	condition := func(kind core.PodConditionType, is bool) core.PodCondition {
		s := core.ConditionFalse
		if is {
			s = core.ConditionTrue
		}
		return core.PodCondition{Type: kind, Status: s, LastTransitionTime: meta.Now()}
	}
	_ = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		now, err := k.clients.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, meta.GetOptions{})
		if err != nil {
			return err
		}
		now.Status.Phase, now.Status.PodIP, now.Status.HostIP = phase, ip, "127.0.0.1"
		now.Status.PodIPs = []core.PodIP{{IP: ip}}
		now.Status.Conditions = []core.PodCondition{condition(core.PodReady, ready), condition(core.ContainersReady, ready), condition(core.PodInitialized, true), condition(core.PodScheduled, true)}
		_, err = k.clients.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, now, meta.UpdateOptions{})
		return err
	})
	k.wake()
}

// pause waits between two starts of a container. It returns false if the container must not start again.
func pause(stopping context.Context) bool {
	timer := time.NewTimer(300 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-stopping.Done():
		return false
	case <-timer.C:
		return true
	}
}
