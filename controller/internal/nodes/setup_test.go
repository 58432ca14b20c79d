package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	api "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
	"github.com/carve-ipam/carve/controller/internal/nodes"
	"github.com/carve-ipam/carve/controller/internal/realm"
)

// story is one test's project, with a class for slices with sixteen addresses. Nodes are in no namespace, so these tests do not run in parallel.
type story struct {
	*testing.T
	project string
	calls   *atomic.Int64
	last    *atomic.Int64
	every   time.Duration
	grace   time.Duration
	realm   string
	blind   *atomic.Value
	refused *atomic.Pointer[refusal]
	before  *atomic.Pointer[interruption]
}

// blind is a client without one node in its cache.
type blind struct {
	client.Client
	to *atomic.Value // the node's name
}

func (b blind) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := b.Client.List(ctx, list, options...)
	if nodes, ok := list.(*meta.PartialObjectMetadataList); ok {
		nodes.Items = slices.DeleteFunc(nodes.Items, func(n meta.PartialObjectMetadata) bool { return n.Name == b.to.Load() })
	}
	return err
}

// line is a transport to Carve. It counts the calls. It loses the response of one call, and fails all calls after it.
type line struct {
	calls *atomic.Int64
	last  *atomic.Int64 // number of that call; 0 for none

	refused *atomic.Pointer[refusal]
	before  *atomic.Pointer[interruption]
}

// interruption calls a function once, before the controller's first request for a pool reaches Carve.
type interruption struct {
	pool string
	once sync.Once
	do   func()
}

func (i *interruption) meets(r *http.Request) {
	if i != nil && path.Base(r.URL.Path) == i.pool {
		i.once.Do(i.do)
	}
}

// refusal is Carve's response to each change to these pools.
type refusal struct {
	pools  []string
	status int
	code   carve.ProblemCode
}

// answer returns the refusal of a request, or nil.
func (f *refusal) answer(r *http.Request) *http.Response {
	if f == nil || r.Method != http.MethodPatch || !slices.Contains(f.pools, path.Base(r.URL.Path)) {
		return nil
	}
	return &http.Response{
		StatusCode: f.status, Request: r, Header: http.Header{"Content-Type": {"application/problem+json"}},
		Body: io.NopCloser(strings.NewReader(fmt.Sprintf(`{"status":%d,"code":%q,"detail":"it is another's"}`, f.status, f.code))),
	}
}

func (l line) RoundTrip(r *http.Request) (*http.Response, error) {
	call, last := l.calls.Add(1), l.last.Load()
	if last != 0 && call > last {
		return nil, errors.New("the line is cut")
	}
	l.before.Load().meets(r)
	if answer := l.refused.Load().answer(r); answer != nil {
		return answer, nil
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if call == last {
		return nil, errors.Join(err, errors.New("the answer is lost"))
	}
	return answer, err
}

// begin creates a story with room for a number of slices in its pool.
func begin(t *testing.T, slices int) story {
	t.Helper()
	ns := core.Namespace{ObjectMeta: meta.ObjectMeta{GenerateName: "story-"}}
	require.NoError(t, world.Client.Create(t.Context(), &ns))
	s := story{
		T: t, project: ns.Name, every: 100 * time.Millisecond, grace: 300 * time.Millisecond, realm: "here",
		calls: &atomic.Int64{}, last: &atomic.Int64{}, blind: &atomic.Value{}, refused: &atomic.Pointer[refusal]{}, before: &atomic.Pointer[interruption]{},
	}
	_, err := world.Carve.CreateProject(t.Context(), carve.ProjectCreate{Metadata: carve.CreateMetadata{Name: s.project}})
	require.NoError(t, err)
	bits := 28
	for size := 1; size < slices; size *= 2 {
		bits--
	}
	s.class("pods", fmt.Sprintf("10.50.0.0/%d", bits))
	return s
}

// class creates a class for slices with sixteen addresses, and its pool.
func (s story) class(name, cidr string, roles ...string) {
	s.Helper()
	length := 28
	_, err := world.Carve.CreateClass(s.Context(), s.project, carve.IPClassCreate{
		Metadata: carve.CreateMetadata{Name: name},
		Spec: carve.IPClassSpec{
			IPFamily: carve.IPFamilyIPv4, PoolPer: append([]string{"project", "node"}, roles...), PoolPrefixLength: &length, EmptyPoolTTL: "8760h",
		},
	})
	require.NoError(s, err)
	_, err = world.Carve.CreatePool(s.Context(), s.project, carve.IPPoolCreate{
		Metadata: carve.CreateMetadata{Name: "all-" + name}, Spec: carve.IPPoolSpec{CIDR: cidr, ClassNames: []string{name}},
	})
	require.NoError(s, err)
}

// run starts the controller and returns a function that stops it. It also stops when the test ends.
func (s story) run() (stop func()) {
	s.Helper()
	yes := true
	manager, err := ctrl.NewManager(world.Config, ctrl.Options{
		Metrics: server.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: &yes},
	})
	require.NoError(s, err)
	toCarve, err := carve.New(world.Carve.Raw.Server, carve.WithHTTP(&http.Client{Transport: line{s.calls, s.last, s.refused, s.before}}),
		carve.WithRetry(carve.RetryPolicy{Attempts: 1}))
	require.NoError(s, err)
	r := &nodes.Reconciler{
		Client: blind{manager.GetClient(), s.blind}, Live: manager.GetAPIReader(), Events: manager.GetEventRecorder("carve"), Every: s.every, Grace: s.grace, Publish: true,
		Realm: &realm.Realm{Carve: toCarve, Project: s.project, Name: s.realm, TTL: time.Hour},
	}
	ctx, cancel := context.WithCancel(s.Context())
	require.NoError(s, errors.Join(r.Setup(manager), manager.Add(&nodes.Renewals{Of: r, Every: time.Hour})))
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

func (s story) create(o client.Object) {
	s.Helper()
	require.NoError(s, world.Client.Create(s.Context(), o))
	s.Cleanup(func() {
		ctx := context.Background()
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		require.NoError(s, client.IgnoreNotFound(world.Client.Patch(ctx, o, patch)))
		require.NoError(s, client.IgnoreNotFound(world.Client.Delete(ctx, o)))
	})
}

// slices creates a NodeSlicePool.
func (s story) slices(name string, change func(*ipam.NodeSlicePoolSpec)) *ipam.NodeSlicePool {
	s.Helper()
	p := &ipam.NodeSlicePool{ObjectMeta: meta.ObjectMeta{Name: name}, Spec: ipam.NodeSlicePoolSpec{ClassName: "pods"}}
	if change != nil {
		change(&p.Spec)
	}
	s.create(p)
	return p
}

func (s story) node(name string) *core.Node {
	s.Helper()
	n := &core.Node{ObjectMeta: meta.ObjectMeta{Name: name, Labels: map[string]string{"pool": "workers"}}}
	s.create(n)
	return n
}

func (s story) remove(o client.Object) {
	s.Helper()
	require.NoError(s, world.Client.Delete(s.Context(), o))
}

// label changes the label by which NodeSlicePools select nodes.
func (s story) label(n *core.Node, value string) {
	s.Helper()
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{"pool":%q}}}`, value))
	require.NoError(s, world.Client.Patch(s.Context(), n, patch))
}

func (s story) eventually(what string, done func() bool) {
	s.Helper()
	require.Eventually(s, done, 5*time.Minute, 20*time.Millisecond, what)
}

// becomes waits until Ready has a reason and a text in its message, and the status counts the given numbers of assigned and draining slices.
func (s story) becomes(p *ipam.NodeSlicePool, reason, says, assigned, draining string) {
	s.Helper()
	last := meta.Condition{}
	defer func() {
		if s.Failed() {
			s.Log("Ready was", last, "with", p.Status)
		}
	}()
	s.eventually(reason, func() bool {
		require.NoError(s, world.Client.Get(s.Context(), client.ObjectKeyFromObject(p), p))
		ready := api.FindStatusCondition(p.Status.Conditions, conditions.Ready)
		if ready == nil {
			return false
		}
		last = *ready
		return ready.Reason == reason && strings.Contains(ready.Message, says) && p.Status.Assigned == assigned && p.Status.Draining == draining
	})
}

// slice waits until a node is annotated with its slice, and returns the slice.
func (s story) slice(n *core.Node) string {
	s.Helper()
	is := ""
	s.eventually("a slice for "+n.Name, func() bool {
		var now core.Node
		require.NoError(s, client.IgnoreNotFound(world.Client.Get(s.Context(), client.ObjectKeyFromObject(n), &now)))
		is = now.Annotations[nodes.ByClass+"pods"]
		return now.UID == n.UID && is != ""
	})
	return is
}

// claim claims an address in a node's slice.
func (s story) claim(name string, n *core.Node) (address string, err error) {
	s.Helper()
	block, err := world.Carve.Claim(s.Context(), s.project, name, carve.IPClaimSpec{
		ClassName: "pods", Scope: map[string]string{"node": string(n.UID)}, PrefixLength: 32,
	})
	return block.String(), err
}

func (s story) release(name string) {
	s.Helper()
	require.NoError(s, world.Carve.Release(s.Context(), s.project, name))
}

// remote returns the slices in Carve, by the UIDs of their nodes.
func (s story) remote() map[string]string {
	s.Helper()
	all := map[string]string{}
	for p, err := range world.Carve.ScopePools(s.Context(), s.project, "pods") {
		require.NoError(s, err)
		all[p.Status.Scope.Values["node"]] = p.Status.AllocatedCIDR
	}
	return all
}
