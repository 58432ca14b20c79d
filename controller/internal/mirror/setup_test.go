package mirror_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
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
	"github.com/carve-ipam/carve/controller/internal/conditions"
	"github.com/carve-ipam/carve/controller/internal/mirror"
)

// every is the interval of the controller's lists in the tests.
const every = 100 * time.Millisecond

// story is one test's project. The objects are in no namespace, so these tests do not run in parallel.
type story struct {
	*testing.T
	project string
	line    *line
}

// line is a transport to Carve. It counts the calls, and it can be cut.
type line struct {
	cut           atomic.Bool
	last          atomic.Int64 // number of the last call, which loses its response before the line is cut; 0 for none
	lists, others atomic.Int64
}

func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.cut.Load() {
		return nil, errors.New("the line is cut")
	}
	if r.Method == http.MethodGet && (strings.HasSuffix(r.URL.Path, "/pools") || strings.HasSuffix(r.URL.Path, "/classes")) {
		l.lists.Add(1)
	} else {
		l.others.Add(1)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if last := l.last.Load(); last != 0 && l.lists.Load()+l.others.Load() >= last {
		l.cut.Store(true)
		return nil, errors.Join(err, errors.New("the answer is lost"))
	}
	return answer, err
}

func begin(t *testing.T) story {
	t.Helper()
	ns := core.Namespace{ObjectMeta: meta.ObjectMeta{GenerateName: "story-"}}
	require.NoError(t, world.Client.Create(t.Context(), &ns))
	s := story{T: t, project: ns.Name, line: &line{}}
	_, err := world.Carve.CreateProject(t.Context(), carve.ProjectCreate{Metadata: carve.CreateMetadata{Name: s.project}})
	require.NoError(t, err)
	return s
}

// run starts the controller and returns a function that stops it. It also stops when the test ends.
func (s story) run() (stop func()) {
	s.Helper()
	return s.runs(world.Config)
}

// runs starts the controller with a transport to the API server.
func (s story) runs(toCluster *rest.Config) (stop func()) {
	s.Helper()
	yes := true
	manager, err := ctrl.NewManager(toCluster, ctrl.Options{
		Metrics: server.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: &yes},
	})
	require.NoError(s, err)
	base := world.Carve.Raw.Server
	toCarve, err := carve.New(base, carve.WithHTTP(&http.Client{Transport: s.line}), carve.WithRetry(carve.RetryPolicy{Attempts: 1}))
	require.NoError(s, err)
	options := mirror.Options{
		Client: manager.GetClient(), Carve: toCarve, Project: s.project, Realm: "realm", Events: manager.GetEventRecorder("carve"), Every: every,
	}
	require.NoError(s, errors.Join(mirror.Pools(options).Setup(manager), mirror.Classes(options).Setup(manager)))
	ctx, cancel := context.WithCancel(s.Context())
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

// pool creates an IPPool. The end of the test deletes it, regardless of its pool in Carve.
func (s story) pool(name string, spec ipam.IPPoolSpec) *ipam.IPPool {
	s.Helper()
	p := &ipam.IPPool{ObjectMeta: meta.ObjectMeta{Name: name}, Spec: spec}
	s.create(p)
	return p
}

func (s story) class(name string, spec ipam.IPClassSpec) *ipam.IPClass {
	s.Helper()
	c := &ipam.IPClass{ObjectMeta: meta.ObjectMeta{Name: name}, Spec: spec}
	s.create(c)
	return c
}

func (s story) create(o client.Object) {
	s.Helper()
	require.NoError(s, world.Client.Create(s.Context(), o))
	s.Cleanup(func() {
		ctx := context.Background()
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		require.NoError(s, client.IgnoreNotFound(world.Client.Patch(ctx, o, patch)))
		require.NoError(s, client.IgnoreNotFound(world.Client.Delete(ctx, o)))
	})
}

func (s story) eventually(what string, done func() bool) {
	s.Helper()
	require.Eventually(s, done, 5*time.Minute, 20*time.Millisecond, what)
}

// becomes waits until Ready has a status, a reason and a text in its message.
func (s story) becomes(o mirror.Object, status meta.ConditionStatus, reason, says string) {
	s.Helper()
	last := meta.Condition{}
	defer func() {
		if s.Failed() {
			s.Log("Ready was", last)
		}
	}()
	s.eventually(reason, func() bool {
		require.NoError(s, world.Client.Get(s.Context(), client.ObjectKeyFromObject(o), o))
		ready := api.FindStatusCondition(o.Mirror().Conditions, conditions.Ready)
		if ready == nil || o.Mirror().ObservedGeneration != o.GetGeneration() {
			return false
		}
		last = *ready
		return ready.Status == status && ready.Reason == reason && strings.Contains(ready.Message, says)
	})
}

func (s story) vanishes(o client.Object) {
	s.Helper()
	s.eventually("gone", func() bool {
		err := world.Client.Get(s.Context(), client.ObjectKeyFromObject(o), o)
		return client.IgnoreNotFound(err) == nil && err != nil
	})
}

// update changes an object as a person does.
func (s story) update(o client.Object, change func()) {
	s.Helper()
	s.eventually("updated", func() bool {
		require.NoError(s, world.Client.Get(s.Context(), client.ObjectKeyFromObject(o), o))
		change()
		return world.Client.Update(s.Context(), o) == nil
	})
}

func (s story) remove(o client.Object) {
	s.Helper()
	require.NoError(s, world.Client.Delete(s.Context(), o))
}

// claim claims a block from a pool in Carve.
func (s story) claim(name, pool string, length int) {
	s.Helper()
	_, err := world.Carve.Claim(s.Context(), s.project, name, carve.IPClaimSpec{PoolRef: &carve.Ref{Name: pool}, PrefixLength: length})
	require.NoError(s, err)
}

func (s story) release(name string) {
	s.Helper()
	require.NoError(s, world.Carve.Release(s.Context(), s.project, name))
}

// remote returns a pool in Carve, or nil if it does not exist.
func (s story) remote(name string) *carve.IPPool {
	s.Helper()
	got, err := world.Carve.GetPool(s.Context(), s.project, name)
	if carve.IsNotFound(err) {
		return nil
	}
	require.NoError(s, err)
	return got
}
