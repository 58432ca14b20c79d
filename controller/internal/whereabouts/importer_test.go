package whereabouts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/claims"
	"github.com/carve-ipam/carve/controller/internal/podstate"
	"github.com/carve-ipam/carve/controller/internal/realm"
	"github.com/carve-ipam/carve/controller/internal/whereabouts"
)

// story is a namespace with a project, a pool and a running controller.
type story struct {
	*testing.T
	name  string
	realm string
}

func begin(t *testing.T) story {
	t.Helper()
	s := story{T: t}
	ns := core.Namespace{ObjectMeta: meta.ObjectMeta{GenerateName: "story-"}}
	require.NoError(t, world.Client.Create(t.Context(), &ns))
	s.name = ns.Name
	_, err := world.Carve.CreateProject(t.Context(), carve.ProjectCreate{Metadata: carve.CreateMetadata{Name: s.name}})
	require.NoError(t, err)
	_, err = world.Carve.CreatePool(t.Context(), s.name,
		carve.IPPoolCreate{Metadata: carve.CreateMetadata{Name: "pool"}, Spec: carve.IPPoolSpec{CIDR: "10.20.0.0/24"}})
	require.NoError(t, err)
	s.realm, err = realm.NameOf(t.Context(), world.Client)
	require.NoError(t, err)
	return s
}

// run runs the controller until the test ends.
func (s story) run() {
	s.Helper()
	yes := true
	manager, err := ctrl.NewManager(world.Config, ctrl.Options{
		Metrics: server.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: &yes},
	})
	require.NoError(s, err)
	r := &claims.Reconciler{
		Client: manager.GetClient(), Live: manager.GetAPIReader(), Judge: podstate.Options{CleanupDisrupted: true, VerifyNetworkStatus: true},
		Events: manager.GetEventRecorder("carve"), Realm: &realm.Realm{Carve: world.Carve, Project: s.name, Name: s.realm, TTL: time.Hour},
	}
	ctx, cancel := context.WithCancel(context.Background())
	require.NoError(s, r.Setup(ctx, manager, 4))
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	s.Cleanup(func() { cancel(); require.NoError(s, <-ended) })
}

// pod creates a running pod with addresses in its network status.
func (s story) pod(name string, addresses ...string) *core.Pod {
	s.Helper()
	p := &core.Pod{
		ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: name},
		Spec:       core.PodSpec{NodeName: "node", Containers: []core.Container{{Name: "c", Image: "i"}}},
	}
	if addresses != nil {
		text, err := json.Marshal([]map[string]any{{"name": "eth", "interface": "eth0", "ips": []string{"10.0.0.7"}}, {"interface": "net1", "ips": addresses}})
		require.NoError(s, err)
		p.Annotations = map[string]string{ipam.NetworkStatusAnnotation: string(text)}
	}
	require.NoError(s, world.Client.Create(s.Context(), p))
	p.Status.Phase = core.PodRunning
	require.NoError(s, world.Client.Status().Update(s.Context(), p))
	return p
}

// pool creates an IPPool of whereabouts in which the pods have the addresses 10.20.0.N.
func (s story) pool(pods map[int]string) {
	s.Helper()
	allocations := map[string]any{}
	for n, pod := range pods {
		allocations[fmt.Sprint(n)] = map[string]any{"id": "container", "podref": s.name + "/" + pod, "ifname": "net1"}
	}
	pool := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "whereabouts.cni.cncf.io/v1alpha1", "kind": "IPPool",
		"metadata": map[string]any{"namespace": s.name, "name": "10.20.0.0-24"},
		"spec":     map[string]any{"range": "10.20.0.0/24", "allocations": allocations},
	}}
	require.NoError(s, world.Client.Create(s.Context(), pool))
	s.Cleanup(func() { require.NoError(s, world.Client.Delete(context.Background(), pool)) })
}

// imports runs an importer and returns the result for each address.
func (s story) imports(i whereabouts.Importer) map[string]whereabouts.Result {
	s.Helper()
	objects, err := whereabouts.InCluster(s.Context(), world.Client)
	require.NoError(s, err)
	records, err := whereabouts.Records(objects)
	require.NoError(s, err)
	i.Live, i.Carve, i.Project = world.Client, world.Carve, s.name
	results, err := i.Run(s.Context(), records)
	require.NoError(s, err)
	by := map[string]whereabouts.Result{}
	for _, r := range results {
		by[r.Address.String()] = r
	}
	return by
}

// held returns the addresses that Carve holds, with the UIDs of their pods.
func (s story) held() map[string]string {
	s.Helper()
	held := map[string]string{}
	for c, err := range world.Carve.Claims(s.Context(), s.name) {
		require.NoError(s, err)
		held[c.Status.Address] = ""
		for u, err := range world.Carve.ClaimConsumers(s.Context(), s.name, c.Metadata.Name) {
			if carve.IsNotFound(err) { // the controller has released it meanwhile
				delete(held, c.Status.Address)
				break
			}
			require.NoError(s, err)
			held[c.Status.Address] += u.UID
		}
	}
	return held
}

func TestImporterTakesOnlyProvenRecords(t *testing.T) {
	s := begin(t)
	web0, web1 := s.pod("web-0", "10.20.0.1"), s.pod("web-1", "10.20.0.2")
	s.pod("replaced", "10.20.0.99") // the record belongs to an earlier pod with this name
	s.pod("untold")
	done := s.pod("done", "10.20.0.5")
	done.Status.Phase = core.PodSucceeded
	require.NoError(t, world.Client.Status().Update(t.Context(), done))
	s.pod("taken", "10.20.0.7")
	_, err := world.Carve.Claim(t.Context(), s.name, "somebody", carve.IPClaimSpec{Address: "10.20.0.7", PoolRef: &carve.Ref{Name: "pool"}})
	require.NoError(t, err)
	s.pool(map[int]string{1: "web-0", 2: "web-1", 3: "replaced", 4: "untold", 5: "done", 6: "gone", 7: "taken"})

	outcomes := func(i whereabouts.Importer) map[string]whereabouts.Outcome {
		said := map[string]whereabouts.Outcome{}
		for address, r := range s.imports(i) {
			said[address] = r.Outcome
		}
		return said
	}
	expect := map[string]whereabouts.Outcome{
		"10.20.0.1": whereabouts.WouldTake, "10.20.0.2": whereabouts.WouldTake, "10.20.0.3": whereabouts.Unproven, "10.20.0.4": whereabouts.Unproven,
		"10.20.0.5": whereabouts.Unproven, "10.20.0.6": whereabouts.Unproven, "10.20.0.7": whereabouts.Refused,
	}
	require.Equal(t, expect, outcomes(whereabouts.Importer{DryRun: true}))
	require.Len(t, s.held(), 1)
	var made ipam.IPClaimList
	require.NoError(t, world.Client.List(t.Context(), &made, client.InNamespace(s.name)))
	require.Empty(t, made.Items, "a dry run makes nothing")

	expect["10.20.0.1"], expect["10.20.0.2"] = whereabouts.Waiting, whereabouts.Waiting
	require.Equal(t, expect, outcomes(whereabouts.Importer{}), "no controller runs")
	s.run()
	expect["10.20.0.1"], expect["10.20.0.2"] = whereabouts.Taken, whereabouts.Taken
	for range 2 { // a repetition gives the same result
		require.Equal(t, expect, outcomes(whereabouts.Importer{Wait: 5 * time.Minute}))
		require.Equal(t, map[string]string{"10.20.0.1": string(web0.UID), "10.20.0.2": string(web1.UID), "10.20.0.7": ""}, s.held())
	}

	now := int64(0)
	require.NoError(t, world.Client.Delete(t.Context(), web0, &client.DeleteOptions{GracePeriodSeconds: &now}))
	require.Eventually(t, func() bool { return len(s.held()) == 2 }, 5*time.Minute, 50*time.Millisecond, "what the pod had goes with it")
}

func TestImporterChoosesTheSmallestPoolWithTheAddress(t *testing.T) {
	s := begin(t)
	_, err := world.Carve.CreatePool(t.Context(), s.name, carve.IPPoolCreate{
		Metadata: carve.CreateMetadata{Name: "small"}, Spec: carve.IPPoolSpec{CIDR: "10.20.0.0/26", ParentRef: &carve.Ref{Name: "pool"}},
	})
	require.NoError(t, err)
	s.pod("web-0", "10.20.0.1")
	s.pod("web-1", "10.20.0.100")
	s.pool(map[int]string{1: "web-0", 100: "web-1"})
	results := s.imports(whereabouts.Importer{DryRun: true})
	require.Equal(t, "from pool small", results["10.20.0.1"].Why)
	require.Equal(t, "from pool pool", results["10.20.0.100"].Why)
	results = s.imports(whereabouts.Importer{DryRun: true, Pool: "small"})
	require.Equal(t, whereabouts.Refused, results["10.20.0.100"].Outcome)
}
