package installed_test

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authentication "k8s.io/api/authentication/v1"
	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	api "k8s.io/apimachinery/pkg/api/errors"
	condition "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
)

// story is a namespace, a project with a pool of sixteen addresses, and an installation.
type story struct {
	*testing.T
	name, kubeconfig string
}

const accountName = "carve-controller"

// begin installs the chart's objects, with the given rights.
func begin(t *testing.T, of rights) story {
	t.Helper()
	s := story{T: t}
	ns := core.Namespace{ObjectMeta: meta.ObjectMeta{GenerateName: "installed-"}}
	s.create(&ns)
	s.name = ns.Name
	_, err := world.Carve.CreateProject(t.Context(), carve.ProjectCreate{Metadata: carve.CreateMetadata{Name: s.name}})
	require.NoError(t, err)
	_, err = world.Carve.CreatePool(t.Context(), s.name, carve.IPPoolCreate{Metadata: carve.CreateMetadata{Name: "pool"}, Spec: carve.IPPoolSpec{CIDR: "10.20.0.0/28"}})
	require.NoError(t, err)

	t.Cleanup(func() { // the controller of the next story has another project, and would not start
		ctx := context.Background()
		none := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":[]}}`))
		var claims ipam.IPClaimList
		require.NoError(t, world.Client.List(ctx, &claims, client.InNamespace(s.name)))
		for i := range claims.Items {
			require.NoError(t, client.IgnoreNotFound(world.Client.Patch(ctx, &claims.Items[i], none)))
			require.NoError(t, client.IgnoreNotFound(world.Client.Delete(ctx, &claims.Items[i])))
		}
	})

	account := core.ServiceAccount{ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: accountName}}
	s.create(&account)
	who := []rbac.Subject{{Kind: rbac.ServiceAccountKind, Namespace: s.name, Name: accountName}}
	s.create(&rbac.ClusterRole{ObjectMeta: meta.ObjectMeta{Name: s.name}, Rules: rules(of.Cluster)})
	s.create(&rbac.ClusterRoleBinding{ObjectMeta: meta.ObjectMeta{Name: s.name}, Subjects: who, RoleRef: rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "ClusterRole", Name: s.name}})
	s.create(&rbac.Role{ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: accountName}, Rules: rules(of.Namespace)})
	s.create(&rbac.RoleBinding{ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: accountName}, Subjects: who, RoleRef: rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "Role", Name: accountName}})

	token := authentication.TokenRequest{}
	require.NoError(t, world.Client.SubResource("token").Create(t.Context(), &account, &token))
	s.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: world.Config.Host, CertificateAuthorityData: world.Config.CAData}
	config.AuthInfos["a"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts["c"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "a"}
	config.CurrentContext = "c"
	require.NoError(t, clientcmd.WriteToFile(*config, s.kubeconfig))
	return s
}

// of returns the story for a subtest.
func (s story) of(t *testing.T) story {
	t.Helper()
	s.T = t
	return s
}

func (s story) account() string { return "system:serviceaccount:" + s.name + ":" + accountName }

func (s story) create(object client.Object) {
	s.Helper()
	require.NoError(s, world.Client.Create(s.Context(), object))
	if object.GetNamespace() == "" { // cluster-wide objects would affect other stories
		s.Cleanup(func() { _ = world.Client.Delete(s.Context(), object) })
	}
}

func (s story) get(object client.Object) {
	s.Helper()
	require.NoError(s, world.Client.Get(s.Context(), client.ObjectKeyFromObject(object), object))
}

// eventually waits for an effect of the program.
func (s story) eventually(what string, done func() bool) {
	s.Helper()
	require.Eventually(s, done, 5*time.Minute, 50*time.Millisecond, what)
}

// one requests one address in the pool.
var one = func() ipam.IPClaimSpec {
	length := int32(32)
	return ipam.IPClaimSpec{PoolRef: &ipam.PoolRef{Name: "pool"}, PrefixLength: &length}
}()

func (s story) claim(name string, spec ipam.IPClaimSpec, owners ...meta.OwnerReference) *ipam.IPClaim {
	s.Helper()
	c := &ipam.IPClaim{ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: name, OwnerReferences: owners}, Spec: spec}
	s.create(c)
	return c
}

func (s story) bound(c *ipam.IPClaim) {
	s.Helper()
	s.eventually("the claim has its block", func() bool {
		s.get(c)
		return condition.IsStatusConditionTrue(c.Status.Conditions, conditions.Ready) && c.Status.CIDR != ""
	})
}

func (s story) vanishes(object client.Object) {
	s.Helper()
	s.eventually("it is gone", func() bool {
		return api.IsNotFound(world.Client.Get(s.Context(), client.ObjectKeyFromObject(object), object))
	})
}

// pod creates a pod that runs on a node. It returns the pod and the owner reference for its claims.
func (s story) pod(name string) (*core.Pod, meta.OwnerReference) {
	s.Helper()
	p := &core.Pod{
		ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: name},
		Spec:       core.PodSpec{NodeName: "node", Containers: []core.Container{{Name: "c", Image: "i"}}},
	}
	s.create(p)
	yes := true
	return p, meta.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: &yes}
}

// remove deletes a pod at once, as a kubelet does when the containers have ended.
func (s story) remove(p *core.Pod) {
	s.Helper()
	now := int64(0)
	require.NoError(s, world.Client.Delete(s.Context(), p, &client.DeleteOptions{GracePeriodSeconds: &now}))
}

// free returns a free port on an address that no other program uses.
func free(t *testing.T, address string) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address+":0")
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	return l.Addr().String()
}
