package proof_test

import (
	"context"
	"fmt"
	"math/bits"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	api "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// world is a Kubernetes namespace with pods, a project in Carve, and the pods' own observations.
type world struct {
	name    string
	dir     string
	program string
	pool    netip.Prefix
	ttl     time.Duration
	renew   time.Duration
	// toAPI and toCarve are the controllers' connections; own is the test's connection to the API server.
	toAPI, toCarve, own *proxy
	api                 client.Client

	// parks are the two namespaces of machines.
	parks [2]string

	mu       sync.Mutex
	machines map[string]*machine
	lives    map[types.UID]*life
	early    map[types.UID][]*ipam.IPClaim // claims of pods whose creation the test has not recorded yet
	faults   []string
}

// life is one pod with its observations of its claims.
type life struct {
	uid    types.UID
	pod    types.NamespacedName
	node   string
	wants  int                  // number of requested claims
	claims map[types.UID]string // names of the claims, by UID
	made   map[string]types.UID // claims that the controller created, by entry
	seen   map[types.UID]sight
	ended  time.Time // just before the request that ended it
}

// sight is a block that a pod has, and the time at which it first saw the block.
type sight struct {
	cidr  string
	since time.Time
}

// begin creates a world. Its pool has room for all pods together with the blocks that cool down.
func begin(t testing.TB, pods int) *world {
	t.Helper()
	via, err := rest.TransportFor(servers.Config)
	require.NoError(t, err)
	w := &world{
		dir: t.TempDir(), program: "carve-controller", ttl: time.Hour, renew: 2 * time.Second, lives: map[types.UID]*life{}, machines: map[string]*machine{},
		early: map[types.UID][]*ipam.IPClaim{},
		pool:  netip.PrefixFrom(netip.MustParseAddr("10.64.0.0"), 32-bits.Len(uint(max(512, 2*pods)-1))),
		toAPI: newProxy(servers.Config.Host, via), toCarve: newProxy(servers.CarveURL, nil), own: newProxy(servers.Config.Host, via),
	}
	for _, p := range []*proxy{w.toAPI, w.toCarve, w.own} {
		t.Cleanup(p.Close)
		t.Cleanup(p.CloseClientConnections)
		t.Cleanup(p.cut)
	}
	config := &rest.Config{Host: w.own.URL, QPS: -1}
	w.api, err = client.New(config, client.Options{})
	require.NoError(t, err)
	ns := core.Namespace{ObjectMeta: meta.ObjectMeta{GenerateName: "proof-"}}
	require.NoError(t, w.api.Create(t.Context(), &ns))
	w.name = ns.Name
	_, err = servers.Carve.CreateProject(t.Context(), carve.ProjectCreate{Metadata: carve.CreateMetadata{Name: w.name}})
	require.NoError(t, err)
	_, err = servers.Carve.CreatePool(t.Context(), w.name,
		carve.IPPoolCreate{Metadata: carve.CreateMetadata{Name: "pool"}, Spec: carve.IPPoolSpec{CIDR: w.pool.String()}})
	require.NoError(t, err)
	length := int32(32)
	require.NoError(t, w.api.Create(t.Context(), &ipam.IPClaimTemplate{
		ObjectMeta: meta.ObjectMeta{Namespace: w.name, Name: template},
		Spec:       ipam.IPClaimTemplateSpec{Spec: ipam.IPClaimSpec{PoolRef: &ipam.PoolRef{Name: "pool"}, PrefixLength: &length}},
	}))
	w.watch(t, config)
	return w
}

// template is the name of the template for the pods' claims.
const template = "address"

// watch passes each change of a claim to its pod's life.
func (w *world) watch(t testing.TB, config *rest.Config) {
	t.Helper()
	seen, err := cache.New(config, cache.Options{DefaultNamespaces: map[string]cache.Config{w.name: {}}})
	require.NoError(t, err)
	informer, err := seen.GetInformer(t.Context(), &ipam.IPClaim{})
	require.NoError(t, err)
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { w.sees(o) },
		UpdateFunc: func(_, o any) { w.sees(o) },
		DeleteFunc: w.misses,
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- seen.Start(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	require.True(t, seen.WaitForCacheSync(t.Context()))
}

// of returns a claim and the UID of the pod that owns it.
func of(o any) (claim *ipam.IPClaim, pod types.UID) {
	claim, ok := o.(*ipam.IPClaim)
	if !ok {
		return nil, ""
	}
	if owner := meta.GetControllerOf(claim); owner != nil {
		return claim, owner.UID
	}
	return nil, ""
}

func (w *world) sees(o any) {
	claim, pod := of(o)
	if claim == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lives[pod]
	if l == nil {
		w.early[pod] = append(w.early[pod], claim)
		return
	}
	w.look(l, claim)
}

// look records the present state of one of a pod's claims. The caller holds the lock.
func (w *world) look(l *life, claim *ipam.IPClaim) {
	if !l.ended.IsZero() {
		return
	}
	if entry := claim.Annotations[ipam.EntryAnnotation]; entry != "" {
		if other, twice := l.made[entry]; twice && other != claim.UID {
			w.faults = append(w.faults, fmt.Sprintf("two claims were made for entry %s of %s", entry, l))
		}
		l.made[entry], l.claims[claim.UID] = claim.UID, claim.Name
	}
	if claim.Status.CIDR == "" {
		return
	}
	switch before, known := l.seen[claim.UID]; {
	case !known:
		l.seen[claim.UID] = sight{claim.Status.CIDR, time.Now()}
	case before.cidr != claim.Status.CIDR:
		w.faults = append(w.faults, fmt.Sprintf("%s had %s and was told %s then", l, before.cidr, claim.Status.CIDR))
	}
}

// knows records a pod, and the claims that the watch has received for it before.
func (w *world) knows(l *life) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lives[l.uid] = l
	for _, claim := range w.early[l.uid] {
		w.look(l, claim)
	}
	delete(w.early, l.uid)
}

func (w *world) misses(o any) {
	if last, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
		o = last.Obj
	}
	claim, pod := of(o)
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := w.lives[pod]; l != nil && l.ended.IsZero() {
		w.faults = append(w.faults, fmt.Sprintf("claim %s went while its pod %s lived", claim.Name, l))
	}
}

func (l *life) String() string { return fmt.Sprintf("%s (%s)", l.pod.Name, l.uid) }

// ends records that a pod is about to end.
func (w *world) ends(l *life) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.ended.IsZero() {
		l.ended = time.Now()
	}
}

// do repeats a request until it succeeds, because the API server may be unavailable. call must succeed if an earlier attempt has taken effect.
func (w *world) do(ctx context.Context, what string, call func() error) {
	for end := time.Now().Add(10 * time.Minute); ; {
		err := call()
		if err == nil {
			return
		}
		if ctx.Err() != nil || time.Now().After(end) || api.IsInvalid(err) || api.IsBadRequest(err) || api.IsForbidden(err) {
			w.mu.Lock()
			w.faults = append(w.faults, fmt.Sprintf("the test could not %s: %v", what, err))
			w.mu.Unlock()
			return
		}
		<-time.After(20 * time.Millisecond)
	}
}
