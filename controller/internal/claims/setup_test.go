package claims_test

import (
	"context"
	"os"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	api "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/claims"
	"github.com/carve-ipam/carve/controller/internal/conditions"
	"github.com/carve-ipam/carve/controller/internal/podstate"
	"github.com/carve-ipam/carve/controller/internal/realm"
)

// story is one test's namespace and project, with a pool of sixteen addresses.
type story struct {
	*testing.T
	name string
}

func begin(t *testing.T) story {
	t.Helper()
	s := story{T: t}
	ns := core.Namespace{ObjectMeta: meta.ObjectMeta{GenerateName: "story-"}}
	require.NoError(t, world.Client.Create(t.Context(), &ns))
	s.name = ns.Name
	_, err := world.Carve.CreateProject(t.Context(), carve.ProjectCreate{Metadata: carve.CreateMetadata{Name: s.name}})
	require.NoError(t, err)
	_, err = world.Carve.CreatePool(t.Context(), s.name, carve.IPPoolCreate{Metadata: carve.CreateMetadata{Name: "pool"}, Spec: carve.IPPoolSpec{CIDR: "10.20.0.0/28"}})
	require.NoError(t, err)
	return s
}

// run starts the controller and returns a function that stops it. It also stops when the test ends.
func (s story) run() (stop func()) {
	s.Helper()
	return s.runs(world.Config)
}

// runs starts the controller with the given configuration and additions to its manager.
func (s story) runs(toCluster *rest.Config, add ...func(ctrl.Manager, *claims.Reconciler) error) (stop func()) {
	s.Helper()
	yes := true
	manager, err := ctrl.NewManager(toCluster, ctrl.Options{
		Metrics: server.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: &yes},
	})
	require.NoError(s, err)
	name, err := realm.NameOf(s.Context(), world.Client)
	require.NoError(s, err)
	r := &claims.Reconciler{
		Client: manager.GetClient(), Live: manager.GetAPIReader(), Judge: podstate.Options{CleanupDisrupted: true}, Events: manager.GetEventRecorder("carve"),
		Realm: &realm.Realm{Carve: world.Carve, Project: s.name, Name: name, TTL: time.Hour},
	}
	ctx, cancel := context.WithCancel(s.Context())
	require.NoError(s, r.Setup(ctx, manager, 4))
	require.NoError(s, manager.Add(&claims.Renewals{Of: r, Every: 100 * time.Millisecond}))
	for _, more := range add {
		require.NoError(s, more(manager, r))
	}
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	stop = func() {
		if cancel != nil {
			cancel()
			cancel = nil
			err := <-ended
			if err != nil { // a goroutine that does not end is the cause; the list shows which
				_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
			}
			require.NoError(s, err)
		}
	}
	s.Cleanup(stop)
	return stop
}

func (s story) claim(name string, spec ipam.IPClaimSpec, owners ...meta.OwnerReference) *ipam.IPClaim {
	s.Helper()
	c := &ipam.IPClaim{ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: name, OwnerReferences: owners}, Spec: spec}
	require.NoError(s, world.Client.Create(s.Context(), c))
	return c
}

// eventually waits for an effect of the controller.
func (s story) eventually(what string, done func() bool) {
	s.Helper()
	require.Eventually(s, done, 5*time.Minute, 20*time.Millisecond, what)
}

// becomes waits until a condition of a claim has a status, and returns the claim.
func (s story) becomes(c *ipam.IPClaim, condition string, status meta.ConditionStatus) *ipam.IPClaim {
	s.Helper()
	s.eventually(condition, func() bool {
		require.NoError(s, world.Client.Get(s.Context(), client.ObjectKeyFromObject(c), c))
		return api.IsStatusConditionPresentAndEqual(c.Status.Conditions, condition, status)
	})
	return c
}

func (s story) bound(c *ipam.IPClaim) *ipam.IPClaim {
	s.Helper()
	return s.becomes(c, conditions.Ready, meta.ConditionTrue)
}

func (s story) vanishes(object client.Object) {
	s.Helper()
	s.eventually("gone", func() bool {
		err := world.Client.Get(s.Context(), client.ObjectKeyFromObject(object), object)
		return client.IgnoreNotFound(err) == nil && err != nil
	})
}

// held returns the blocks that Carve holds.
func (s story) held() (blocks []string) {
	s.Helper()
	for c, err := range world.Carve.Claims(s.Context(), s.name) {
		require.NoError(s, err)
		blocks = append(blocks, c.Status.AllocatedCIDR)
	}
	return blocks
}

// pod creates a pod that runs on a node. It returns the pod and the owner reference for its claims.
func (s story) pod(name string) (*core.Pod, meta.OwnerReference) {
	s.Helper()
	p := &core.Pod{
		ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: name},
		Spec:       core.PodSpec{NodeName: "node", Containers: []core.Container{{Name: "c", Image: "i"}}},
	}
	require.NoError(s, world.Client.Create(s.Context(), p))
	s.phase(p, core.PodRunning)
	yes := true
	return p, meta.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: &yes}
}

func (s story) phase(p *core.Pod, phase core.PodPhase) {
	s.Helper()
	p.Status.Phase = phase
	require.NoError(s, world.Client.Status().Update(s.Context(), p))
}

// remove deletes a pod at once, as a kubelet does when the containers have ended.
func (s story) remove(p *core.Pod) {
	s.Helper()
	now := int64(0)
	require.NoError(s, world.Client.Delete(s.Context(), p, &client.DeleteOptions{GracePeriodSeconds: &now}))
}
