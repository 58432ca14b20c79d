package install

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// controlPlane is an API server with etcd behind it.
type controlPlane struct {
	kubernetes.Interface
	url, kubeconfig string
	ca              *authority
}

// startControlPlane starts both on loopback, in their own folder, and returns when the API server is ready. It has the default configuration except
// for authorization: the only user may do everything.
func startControlPlane(t *testing.T) *controlPlane {
	t.Helper()
	dir, ca := t.TempDir(), newAuthority(t)
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		return path
	}
	etcd, peers := "http://127.0.0.2:"+freePort(t, "127.0.0.2"), "http://127.0.0.3:"+freePort(t, "127.0.0.3")
	start(t, syscall.SIGTERM, nil, dir, etcdBinary, "--data-dir="+filepath.Join(dir, "etcd"), "--unsafe-no-fsync",
		"--listen-client-urls="+etcd, "--advertise-client-urls="+etcd, "--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers, "--initial-cluster=default="+peers)

	const address = "127.0.0.4"
	certificate, key := ca.issue(t, "kube-apiserver", address)
	tokens, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	signing := file("tokens.key", pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(tokens)}))
	port := freePort(t, address)
	const token = "the-only-user-of-this-test"
	start(t, syscall.SIGTERM, nil, dir, apiBinary, "--etcd-servers="+etcd, "--bind-address="+address, "--advertise-address="+address,
		"--endpoint-reconciler-type=none", "--secure-port="+port,
		"--tls-cert-file="+file("api.crt", certificate), "--tls-private-key-file="+file("api.key", key),
		"--token-auth-file="+file("users.csv", []byte(token+",tester,1,system:masters\n")), "--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.96.0.0/16", "--service-account-issuer=https://127.0.0.1", "--service-account-key-file="+signing, "--service-account-signing-key-file="+signing)

	config := &rest.Config{
		Host: "https://" + address + ":" + port, BearerToken: token, QPS: 1000, Burst: 1000, TLSClientConfig: rest.TLSClientConfig{CAData: ca.pem},
	}
	clients, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	require.NoError(t, wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 10*time.Minute, true, func(ctx context.Context) (bool, error) {
		var status int
		clients.RESTClient().Get().AbsPath("/readyz").Do(ctx).StatusCode(&status)
		return status == http.StatusOK, nil
	}), "the API server was not ready within 10 minutes")
	kubeconfig := api.NewConfig()
	kubeconfig.Clusters["test"] = &api.Cluster{Server: config.Host, CertificateAuthorityData: ca.pem}
	kubeconfig.AuthInfos["test"] = &api.AuthInfo{Token: token}
	kubeconfig.Contexts["test"] = &api.Context{Cluster: "test", AuthInfo: "test"}
	kubeconfig.CurrentContext = "test"
	path := filepath.Join(dir, "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*kubeconfig, path))
	version, err := clients.Discovery().ServerVersion()
	require.NoError(t, err)
	t.Logf("API server %s is ready", version.GitVersion)
	return &controlPlane{Interface: clients, url: config.Host, kubeconfig: path, ca: ca}
}
