package publish_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	eventsapi "k8s.io/api/events/v1"
	api "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/claims"
	"github.com/carve-ipam/carve/controller/internal/publish"
	"github.com/carve-ipam/carve/controller/internal/realm"
)

// story is one test's namespace and project, with a pool.
type story struct {
	*testing.T
	name string
}

func begin(t *testing.T, kinds ...string) story {
	t.Helper()
	ns := core.Namespace{ObjectMeta: meta.ObjectMeta{GenerateName: "story-"}}
	require.NoError(t, world.Client.Create(t.Context(), &ns))
	s := story{T: t, name: ns.Name}
	_, err := world.Carve.CreateProject(t.Context(), carve.ProjectCreate{Metadata: carve.CreateMetadata{Name: s.name}})
	require.NoError(t, err)
	_, err = world.Carve.CreatePool(t.Context(), s.name, carve.IPPoolCreate{
		Metadata: carve.CreateMetadata{Name: "pool"}, Spec: carve.IPPoolSpec{CIDR: "10.40.0.0/24"},
	})
	require.NoError(t, err)
	yes := true
	manager, err := ctrl.NewManager(world.Config, ctrl.Options{
		Metrics: server.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: &yes},
	})
	require.NoError(s, err)
	holds := &claims.Reconciler{
		Client: manager.GetClient(), Live: manager.GetAPIReader(), Events: manager.GetEventRecorder("carve"),
		Realm: &realm.Realm{Carve: world.Carve, Project: s.name, Name: "realm", TTL: time.Hour},
	}
	publishes := &publish.Reconciler{
		Client: manager.GetClient(), Live: manager.GetAPIReader(), Events: manager.GetEventRecorder("carve"), Kinds: kinds, Again: 100 * time.Millisecond,
	}
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, errors.Join(holds.Setup(ctx, manager, 1), publishes.Setup(manager)))
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	return s
}

// claim creates a claim for four addresses that are to be published.
func (s story) claim(name, where string, changes ...func(*ipam.IPClaimSpec)) *ipam.IPClaim {
	s.Helper()
	length := int32(30)
	c := &ipam.IPClaim{
		ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: name, Annotations: map[string]string{ipam.PublishAnnotation: where}},
		Spec:       ipam.IPClaimSpec{PoolRef: &ipam.PoolRef{Name: "pool"}, PrefixLength: &length},
	}
	for _, change := range changes {
		change(&c.Spec)
	}
	require.NoError(s, world.Client.Create(s.Context(), c))
	return c
}

// pod creates a pod that runs on a node and uses a claim.
func (s story) pod(name, claim string) *core.Pod {
	s.Helper()
	p := &core.Pod{
		ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: name, Annotations: map[string]string{
			ipam.ClaimsAnnotation: fmt.Sprintf(`[{"name": "net", "claim": %q}]`, claim),
		}},
		Spec: core.PodSpec{NodeName: "node", Containers: []core.Container{{Name: "c", Image: "i"}}},
	}
	require.NoError(s, world.Client.Create(s.Context(), p))
	return p
}

// annotate requests another object for a claim's block.
func (s story) annotate(c *ipam.IPClaim, where string) {
	s.Helper()
	before := c.DeepCopy()
	c.Annotations[ipam.PublishAnnotation] = where
	require.NoError(s, world.Client.Patch(s.Context(), c, client.MergeFrom(before)))
}

func (s story) eventually(what string, done func() bool) {
	s.Helper()
	require.Eventually(s, done, 5*time.Minute, 20*time.Millisecond, what)
}

// configMap waits for a ConfigMap that has a key, and returns it.
func (s story) configMap(name, key string) (m core.ConfigMap) {
	s.Helper()
	s.eventually(name, func() bool {
		m = core.ConfigMap{}
		err := world.Client.Get(s.Context(), client.ObjectKey{Namespace: s.name, Name: name}, &m)
		require.NoError(s, client.IgnoreNotFound(err))
		return m.Data[key] != ""
	})
	return m
}

// told waits for a warning about a claim.
func (s story) told(c *ipam.IPClaim, says string) {
	s.Helper()
	s.eventually(says, func() bool {
		var all eventsapi.EventList
		require.NoError(s, world.Client.List(s.Context(), &all, client.InNamespace(s.name)))
		for _, e := range all.Items {
			if e.Regarding.UID == c.UID && e.Type == core.EventTypeWarning && e.Note == says {
				return true
			}
		}
		return false
	})
}

func TestBlockIsPublishedInTheRequestedObject(t *testing.T) {
	s := begin(t, "ConfigMap", "Secret")
	c := s.claim("web", "ConfigMap")
	m := s.configMap("web", "cidr")
	require.Equal(t, map[string]string{
		"cidr": "10.40.0.0/30", "prefixLength": "30", "netmask": "255.255.255.252", "ipFamily": "IPv4", "pool": s.name + "/pool",
	}, m.Data)
	require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	require.True(t, meta.IsControlledBy(&m, c), "it goes with the claim")

	s.annotate(c, "Secret/net")
	var secret core.Secret
	s.eventually("secret", func() bool {
		err := world.Client.Get(t.Context(), client.ObjectKey{Namespace: s.name, Name: "net"}, &secret)
		require.NoError(t, client.IgnoreNotFound(err))
		return err == nil
	})
	require.Equal(t, "10.40.0.0/30", string(secret.Data["cidr"]))
	require.True(t, api.IsNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(&m), &m)), "the one before is gone")

	s.annotate(c, "")
	s.eventually("gone", func() bool {
		return api.IsNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(&secret), &secret))
	})
	s.eventually("nothing is recorded", func() bool {
		require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c))
		return c.Annotations[ipam.PublishedAnnotation] == ""
	})
}

// TestReleasedBlockIsWithdrawn checks that a released block is withdrawn, and that the next block is published.
func TestReleasedBlockIsWithdrawn(t *testing.T) {
	s := begin(t, "ConfigMap")
	c := s.claim("web", "ConfigMap", func(spec *ipam.IPClaimSpec) { spec.BindingMode = ipam.BindingWaitForFirstConsumer })
	first := s.pod("web-0", "web")
	m := s.configMap("web", "cidr")
	require.Equal(t, "10.40.0.0/30", m.Data["cidr"])
	s.eventually("in use", func() bool {
		require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c))
		return len(c.Status.ReservedFor) == 1
	})
	now := int64(0)
	require.NoError(t, world.Client.Delete(t.Context(), first, &client.DeleteOptions{GracePeriodSeconds: &now}))
	s.eventually("nothing is recorded", func() bool {
		require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c))
		return c.Annotations[ipam.PublishedAnnotation] == ""
	})
	require.True(t, api.IsNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(&m), &m)))

	s.configMap(s.claim("other", "ConfigMap").Name, "cidr") // it has the released block now
	s.pod("web-1", "web")
	require.Equal(t, "10.40.0.4/30", s.configMap("web", "cidr").Data["cidr"])
}

// TestForeignObjectIsLeftUnchanged checks that the controller leaves a foreign object, and writes its own once the foreign one is gone.
func TestForeignObjectIsLeftUnchanged(t *testing.T) {
	s := begin(t, "ConfigMap")
	theirs := &core.ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: "theirs"}, Data: map[string]string{"key": "value"}}
	require.NoError(t, world.Client.Create(t.Context(), theirs))
	c := s.claim("web", "ConfigMap/theirs")
	s.told(c, "ConfigMap/theirs exists and does not belong to this claim, so the controller does not change it")
	require.Equal(t, map[string]string{"key": "value"}, s.configMap("theirs", "key").Data)
	require.NoError(t, world.Client.Delete(t.Context(), theirs))
	s.configMap("theirs", "cidr")

	other := s.claim("other", "ConfigMap/theirs")
	s.told(other, "ConfigMap/theirs exists and does not belong to this claim, so the controller does not change it")
	require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(other), other))
	s.annotate(other, "")
	s.eventually("nothing is recorded", func() bool {
		require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(other), other))
		return other.Annotations[ipam.PublishedAnnotation] == ""
	})
	require.Equal(t, "10.40.0.0/30", s.configMap("theirs", "cidr").Data["cidr"])
}

func TestForbiddenOrInvalidTargetIsReported(t *testing.T) {
	s := begin(t, "ConfigMap")
	s.told(s.claim("a", "Secret/net"), "the controller cannot write a Secret: enable it with the flag --publish")
	s.told(s.claim("b", "Deployment/net"), `ipam.carve.dev/publish: "Deployment/net" has neither the form ConfigMap/NAME nor Secret/NAME`)
}
