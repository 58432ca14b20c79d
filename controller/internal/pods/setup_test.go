package pods_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	events "k8s.io/api/events/v1"
	condition "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/claims"
	"github.com/carve-ipam/carve/controller/internal/conditions"
	"github.com/carve-ipam/carve/controller/internal/entries"
	"github.com/carve-ipam/carve/controller/internal/pods"
	"github.com/carve-ipam/carve/controller/internal/podstate"
	"github.com/carve-ipam/carve/controller/internal/realm"
)

// story is one test's namespace, realm and project, with a pool of sixteen addresses and a template for one of them.
type story struct {
	*testing.T
	name   string
	judge  podstate.Options
	sweeps time.Duration
	// carve and cluster are the controller's transports to both servers.
	carve, cluster *way
}

func begin(t *testing.T) *story {
	t.Helper()
	s := &story{T: t, judge: podstate.Options{CleanupDisrupted: true, VerifyNetworkStatus: true}, sweeps: time.Hour, carve: &way{}, cluster: &way{}}
	ns := core.Namespace{ObjectMeta: meta.ObjectMeta{GenerateName: "story-"}}
	require.NoError(t, world.Client.Create(t.Context(), &ns))
	s.name = ns.Name
	_, err := world.Carve.CreateProject(t.Context(), carve.ProjectCreate{Metadata: carve.CreateMetadata{Name: s.name}})
	require.NoError(t, err)
	_, err = world.Carve.CreatePool(t.Context(), s.name, carve.IPPoolCreate{
		Metadata: carve.CreateMetadata{Name: "pool"}, Spec: carve.IPPoolSpec{CIDR: "10.20.0.0/28"},
	})
	require.NoError(t, err)
	s.template("web", ipam.IPClaimSpec{})
	return s
}

// way is a transport to a server. It can be cut, and it can delay watches.
type way struct {
	next http.RoundTripper
	cut  atomic.Bool
	lag  atomic.Pointer[lag]
	fuse atomic.Pointer[fuse]
}

// fuse cuts all ways at one write, before or after the server carries it out. In the latter case the response is lost. It does not count events and
// renewals, as these come at any time.
type fuse struct {
	left  atomic.Int64
	after bool
	ways  []*way
}

// blows counts a write and reports whether it is the one to cut.
func (f *fuse) blows() bool {
	if f.left.Add(-1) != 0 {
		return false
	}
	for _, w := range f.ways {
		w.cut.Store(true)
	}
	return true
}

// cutAt cuts the controller off from both servers at a write. blown reports whether that has happened.
func (s *story) cutAt(write int, after bool) (blown func() bool) {
	f := &fuse{after: after, ways: []*way{s.carve, s.cluster}}
	f.left.Store(int64(write))
	s.carve.fuse.Store(f)
	s.cluster.fuse.Store(f)
	return func() bool { return f.left.Load() <= 0 }
}

// mend gives the next controller intact ways.
func (s *story) mend() { s.carve, s.cluster = &way{}, &way{} }

// lag delays the watch for one kind.
type lag struct {
	kind string
	over chan struct{}
}

var errCut = errors.New("the way is cut")

func (w *way) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.cut.Load() {
		return nil, errCut
	}
	write := r.Method != http.MethodGet && !strings.HasSuffix(r.URL.Path, "/events") && !strings.HasSuffix(r.URL.Path, "/consumer-renewals")
	if fuse := w.fuse.Load(); fuse != nil && write && fuse.blows() {
		if fuse.after {
			if answer, err := w.next.RoundTrip(r); err == nil {
				answer.Body.Close()
			}
		}
		return nil, errCut
	}
	answer, err := w.next.RoundTrip(r)
	if err == nil && r.URL.Query().Get("watch") != "" {
		answer.Body = &heldUp{ReadCloser: answer.Body, way: w, path: r.URL.Path}
	}
	return answer, err
}

type heldUp struct {
	io.ReadCloser
	way  *way
	path string
}

func (h *heldUp) Read(b []byte) (int, error) {
	n, err := h.ReadCloser.Read(b)
	if l := h.way.lag.Load(); l != nil && strings.HasSuffix(h.path, l.kind) {
		<-l.over
	}
	return n, err
}

// holdUp delays all watch events of a kind until the returned function is called.
func (s *story) holdUp(kind string) (over func()) {
	l := &lag{kind: kind, over: make(chan struct{})}
	s.cluster.lag.Store(l)
	over = sync.OnceFunc(func() { s.cluster.lag.Store(nil); close(l.over) })
	s.Cleanup(over)
	return over
}

// run starts the controller and returns a function that stops it. It also stops when the test ends.
func (s *story) run() (stop func()) {
	s.Helper()
	yes := true
	toCluster := rest.CopyConfig(world.Config)
	toCluster.Wrap(func(next http.RoundTripper) http.RoundTripper { s.cluster.next = next; return s.cluster })
	manager, err := ctrl.NewManager(toCluster, ctrl.Options{
		Metrics: server.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: &yes},
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{s.name: {}}, ByObject: pods.Remembered()}, // each story has a controller of its own
	})
	require.NoError(s, err)
	s.carve.next = http.DefaultTransport
	toCarve, err := carve.New(world.CarveURL, carve.WithHTTP(&http.Client{Transport: s.carve}), carve.WithRetry(carve.RetryPolicy{Attempts: 1}))
	require.NoError(s, err)
	r := &claims.Reconciler{
		Client: manager.GetClient(), Live: manager.GetAPIReader(), Judge: s.judge, Between: 200 * time.Millisecond,
		Events: manager.GetEventRecorder("carve"), Realm: &realm.Realm{Carve: toCarve, Project: s.name, Name: s.name, TTL: time.Hour},
	}
	p := &pods.Reconciler{Client: r.Client, Live: r.Live, Judge: s.judge, Events: r.Events}
	ctx, cancel := context.WithCancel(s.Context())
	require.NoError(s, r.Setup(ctx, manager, 4))
	require.NoError(s, p.Setup(ctx, manager, 4))
	require.NoError(s, manager.Add(&claims.Renewals{Of: r, Every: 100 * time.Millisecond}))
	require.NoError(s, manager.Add(&claims.Sweep{Of: r, Every: s.sweeps}))
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	stop = func() {
		if cancel != nil {
			cancel()
			cancel = nil
			told := time.AfterFunc(20*time.Second, func() { _ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2) }) // the manager gives up after 30 seconds
			defer told.Stop()
			require.NoError(s, <-ended)
		}
	}
	s.Cleanup(stop)
	return stop
}

// eventually waits for an effect of the controller.
func (s *story) eventually(what string, done func() bool) {
	s.Helper()
	require.Eventually(s, done, 5*time.Minute, 20*time.Millisecond, what)
}

// template creates a template for one address in the pool.
func (s *story) template(name string, spec ipam.IPClaimSpec) *ipam.IPClaimTemplate {
	s.Helper()
	length := int32(32)
	spec.PoolRef, spec.PrefixLength = &ipam.PoolRef{Name: "pool"}, &length
	t := &ipam.IPClaimTemplate{ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: name}, Spec: ipam.IPClaimTemplateSpec{
		Metadata: ipam.TemplateMetadata{Labels: map[string]string{"app": name}, Annotations: map[string]string{"note": name}}, Spec: spec,
	}}
	require.NoError(s, world.Client.Create(s.Context(), t))
	return t
}

// claim creates a claim for one address of the pool. No pod owns it.
func (s *story) claim(name string, spec ipam.IPClaimSpec) *ipam.IPClaim {
	s.Helper()
	length := int32(32)
	spec.PoolRef, spec.PrefixLength = &ipam.PoolRef{Name: "pool"}, &length
	c := &ipam.IPClaim{ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: name}, Spec: spec}
	require.NoError(s, world.Client.Create(s.Context(), c))
	return c
}

// pod creates a pod that requests claims and runs on a node. Without a node it is pending.
func (s *story) pod(name, node string, asks ...entries.Entry) *core.Pod {
	s.Helper()
	text, err := json.Marshal(asks)
	require.NoError(s, err)
	p := &core.Pod{
		ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: name, Annotations: map[string]string{ipam.ClaimsAnnotation: string(text)}},
		Spec:       core.PodSpec{NodeName: node, Containers: []core.Container{{Name: "c", Image: "i"}}},
	}
	require.NoError(s, world.Client.Create(s.Context(), p))
	if node != "" {
		s.phase(p, core.PodRunning)
	}
	return p
}

var net1 = entries.Entry{Name: "net1", Template: "web"}

func (s *story) phase(p *core.Pod, phase core.PodPhase) {
	s.Helper()
	was := p.DeepCopy()
	p.Status.Phase = phase
	require.NoError(s, world.Client.Status().Patch(s.Context(), p, client.MergeFrom(was)))
}

func (s *story) annotate(o client.Object, key, value string) {
	s.Helper()
	was, ok := o.DeepCopyObject().(client.Object)
	require.True(s, ok)
	all := o.GetAnnotations()
	if all == nil {
		all = map[string]string{}
	}
	all[key] = value
	o.SetAnnotations(all)
	require.NoError(s, world.Client.Patch(s.Context(), o, client.MergeFrom(was)))
}

// place binds a pod to a node, as the scheduler does.
func (s *story) place(p *core.Pod, node string) {
	s.Helper()
	binding := &core.Binding{Target: core.ObjectReference{Kind: "Node", Name: node}}
	require.NoError(s, world.Client.SubResource("binding").Create(s.Context(), p, binding))
}

// remove deletes a pod at once, as a kubelet does when the containers have ended.
func (s *story) remove(p *core.Pod) {
	s.Helper()
	now := int64(0)
	require.NoError(s, world.Client.Delete(s.Context(), p, &client.DeleteOptions{GracePeriodSeconds: &now}))
}

func (s *story) vanishes(object client.Object) {
	s.Helper()
	s.eventually("gone", func() bool {
		err := world.Client.Get(s.Context(), client.ObjectKeyFromObject(object), object)
		return client.IgnoreNotFound(err) == nil && err != nil
	})
}

// told waits until a pod's status has the given number of addresses, and returns the status.
func (s *story) told(p *core.Pod, addresses int) entries.Outcomes {
	s.Helper()
	var told entries.Outcomes
	s.eventually(p.Name+" is told", func() bool {
		var now core.Pod
		require.NoError(s, world.Client.Get(s.Context(), client.ObjectKeyFromObject(p), &now))
		told = entries.OutcomesOf(&now)
		known := 0
		for _, o := range told {
			if o.Address != "" {
				known++
			}
		}
		return known == addresses
	})
	return told
}

// becomes waits until a condition of a claim has a status, and returns the claim.
func (s *story) becomes(c *ipam.IPClaim, kind string, status meta.ConditionStatus) *ipam.IPClaim {
	s.Helper()
	s.eventually(kind, func() bool {
		require.NoError(s, world.Client.Get(s.Context(), client.ObjectKeyFromObject(c), c))
		return condition.IsStatusConditionPresentAndEqual(c.Status.Conditions, kind, status)
	})
	return c
}

func (s *story) bound(c *ipam.IPClaim) *ipam.IPClaim {
	s.Helper()
	return s.becomes(c, conditions.Ready, meta.ConditionTrue)
}

// get returns the claim that a pod's status names.
func (s *story) get(o entries.Outcome) *ipam.IPClaim {
	s.Helper()
	var c ipam.IPClaim
	require.NoError(s, world.Client.Get(s.Context(), client.ObjectKey{Namespace: s.name, Name: o.Claim}, &c))
	return &c
}

// claims returns the names of all IPClaims.
func (s *story) claims() (names []string) {
	s.Helper()
	var all ipam.IPClaimList
	require.NoError(s, world.Client.List(s.Context(), &all, client.InNamespace(s.name)))
	for i := range all.Items {
		names = append(names, all.Items[i].Name)
	}
	return names
}

// held returns the blocks that Carve holds.
func (s *story) held() (blocks []string) {
	s.Helper()
	for c, err := range world.Carve.Claims(s.Context(), s.name) {
		require.NoError(s, err)
		blocks = append(blocks, c.Status.AllocatedCIDR)
	}
	slices.Sort(blocks)
	return blocks
}

// event waits for an event with a reason.
func (s *story) event(reason string) {
	s.Helper()
	s.eventually("the event "+reason, func() bool {
		var all events.EventList
		require.NoError(s, world.Client.List(s.Context(), &all, client.InNamespace(s.name)))
		return slices.ContainsFunc(all.Items, func(e events.Event) bool { return e.Reason == reason })
	})
}

// users waits until the status of a claim has exactly these pods.
func (s *story) users(c *ipam.IPClaim, want ...*core.Pod) *ipam.IPClaim {
	s.Helper()
	names := []string{}
	for _, p := range want {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	s.eventually("used by "+strings.Join(names, ", "), func() bool {
		require.NoError(s, world.Client.Get(s.Context(), client.ObjectKeyFromObject(c), c))
		now := []string{}
		for _, user := range c.Status.ReservedFor {
			now = append(now, user.Name)
		}
		slices.Sort(now)
		return slices.Equal(names, now)
	})
	return c
}
