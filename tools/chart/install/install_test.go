package install

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	namespace = "network"
	home      = "https://carve.network.svc"
	replicas  = 2
)

// The life of a release of values-multi-region.yaml. The test replaces the database's address, and uses few and fast pods, which show the same. Each
// step builds on the earlier ones.
func TestReleaseServesThroughItsLife(t *testing.T) {
	plane := startControlPlane(t)
	plane.extend(t)
	t.Run("every values file is accepted by the API server", func(t *testing.T) { accepted(t, plane) })
	t.Run("pods that are not hardened are refused", func(t *testing.T) { refusesOthers(t, plane) })

	db, ca := startDatabase(t), newAuthority(t)
	plane.namespace(t, namespace)
	for who, secret := range map[string]string{ownerUser: "carve-database-owner", serverUser: "carve-database-client"} {
		certificate, key := db.ca.issue(t, who)
		plane.secret(t, namespace, secret, core.SecretTypeOpaque, map[string][]byte{"ca.crt": db.ca.pem, "tls.crt": certificate, "tls.key": key})
	}
	certificate, key := ca.issue(t, "carve", "carve.network.svc")
	plane.secret(t, namespace, "carve-server-tls", core.SecretTypeTLS, map[string][]byte{"tls.crt": certificate, "tls.key": key})
	before := plane.everything(t, namespace)

	service := &service{}
	played := play(t, plane, namespace, service.saw)
	values := []string{
		release, chartDir, "--values=" + chartDir + "/values-multi-region.yaml", "--wait", "--timeout=10m",
		"--set=database.url=" + db.url(serverUser), "--set=migrations.database.url=" + db.url(ownerUser),
		fmt.Sprintf("--set=replicaCount=%d,drainDelaySeconds=8,resources.limits.memory=512Mi", replicas),
	}
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DialContext: service.dial, TLSClientConfig: &tls.Config{RootCAs: ca.pool()}}}
	var token string

	require.True(t, t.Run("helm install migrates, then starts servers that are ready", func(t *testing.T) {
		_, err := plane.helm(t, namespace, append([]string{"install"}, values...)...)
		require.NoError(t, err, played.kubelet.told())
		assert.Equal(t, []int{0}, played.kubelet.codes("Job/ipam-carve-migrate"))
		assert.Len(t, played.kubelet.running("Deployment/ipam-carve"), replicas)
	}))
	require.True(t, t.Run("the first key is made as NOTES.txt says, and the API works with it", func(t *testing.T) {
		notes, err := plane.helm(t, namespace, "get", "notes", release)
		require.NoError(t, err)
		command := regexp.MustCompile(`exec deployment/ipam-carve -c server -- (.*)`).FindStringSubmatch(notes)
		require.NotNil(t, command, notes)
		words := strings.Fields(command[1])
		out, err := played.kubelet.exec("Deployment/ipam-carve", words[0], words[1:]...)
		require.NoError(t, err, out)
		token = strings.TrimSpace(out)
		require.NoError(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 5*time.Minute, true, func(context.Context) (bool, error) {
			_, known := service.next()
			return known, nil
		}))
		for _, each := range [][2]string{
			{"/v1/projects", `{"metadata":{"name":"team-a"},"spec":{}}`}, {"/v1/projects/team-a/pools", `{"metadata":{"name":"everybody"},"spec":{"cidr":"10.20.0.0/16"}}`},
		} {
			status, text, err := call(t.Context(), client, http.MethodPost, home+each[0], token, each[1])
			require.NoError(t, err)
			require.Equal(t, http.StatusCreated, status, text)
		}
	}))
	require.True(t, t.Run("metrics are on the admin port and not beside the API", func(t *testing.T) {
		pod := played.kubelet.running("Deployment/ipam-carve")[0]
		for port, want := range map[string]int{"8081": http.StatusOK, "8080": http.StatusNotFound} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+pod.sandbox.ip+":"+port+"/metrics", nil)
			require.NoError(t, err)
			answer, err := prober.Do(request)
			require.NoError(t, err)
			_ = answer.Body.Close()
			assert.Equal(t, want, answer.StatusCode, port)
		}
	}))
	require.True(t, t.Run("helm test audits the data", func(t *testing.T) {
		out, err := plane.helm(t, namespace, "test", release, "--timeout=10m")
		require.NoError(t, err, played.kubelet.told())
		assert.Contains(t, out, "Succeeded")
		assert.Equal(t, []int{0}, played.kubelet.codes("Pod/ipam-carve-audit"))
	}))

	crowd := &crowd{name: "upgrade", client: client, url: home + "/v1/projects/team-a/claims", token: token, stop: make(chan struct{})}
	crowd.start(t, 4)
	require.True(t, t.Run("helm upgrade migrates again, and replaces every pod", func(t *testing.T) {
		old := names(played.kubelet.running("Deployment/ipam-carve"))
		_, err := plane.helm(t, namespace, append([]string{"upgrade", "--set=server.logLevel=debug"}, values...)...)
		require.NoError(t, err, played.kubelet.told())
		assert.Equal(t, []int{0, 0}, played.kubelet.codes("Job/ipam-carve-migrate"))
		for _, pod := range played.kubelet.running("Deployment/ipam-carve") {
			assert.NotContains(t, old, pod.name)
			assert.Contains(t, pod.args, "--log-level=debug")
		}
	}))
	require.True(t, t.Run("an upgrade whose pods do not start fails, and the earlier pods continue", func(t *testing.T) {
		_, err := plane.helm(t, namespace, append(append([]string{"upgrade", "--set=extraArgs={--no-such-flag=1}"}, values...), "--timeout=1m")...)
		require.Error(t, err)
		serving := 0
		for _, pod := range played.kubelet.running("Deployment/ipam-carve") {
			if slices.Contains(pod.args, "--log-level=debug") {
				serving++
			}
		}
		assert.Equal(t, replicas, serving)
		assert.Contains(t, played.kubelet.told(), "unknown flag --no-such-flag")
	}))
	require.True(t, t.Run("helm rollback brings the first release back, without migrating", func(t *testing.T) {
		migrated := len(played.kubelet.codes("Job/ipam-carve-migrate"))
		_, err := plane.helm(t, namespace, "rollback", release, "1", "--wait", "--timeout=10m")
		require.NoError(t, err, played.kubelet.told())
		for _, pod := range played.kubelet.running("Deployment/ipam-carve") {
			assert.Contains(t, pod.args, "--log-level=info")
			assert.NotContains(t, pod.args, "--no-such-flag=1")
		}
		assert.Len(t, played.kubelet.codes("Job/ipam-carve-migrate"), migrated)
	}))
	claims, wrong := crowd.end()
	require.True(t, t.Run("no request failed in all this, and no claim is lost", func(t *testing.T) {
		t.Logf("%d claims", claims)
		assert.Empty(t, wrong)
		assert.Greater(t, claims, 100)
		_, err := plane.helm(t, namespace, "test", release, "--timeout=10m")
		require.NoError(t, err, played.kubelet.told())
		status, text, err := call(t.Context(), client, http.MethodGet, home+"/v1/projects/team-a/pools/everybody", token, "")
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, status, text)
		var pool struct {
			Status struct{ Capacity struct{ Allocated string } }
		}
		require.NoError(t, json.Unmarshal([]byte(text), &pool))
		assert.Equal(t, strconv.Itoa(claims), pool.Status.Capacity.Allocated, "a claim is of one address")
	}))
	require.True(t, t.Run("helm uninstall leaves nothing, and every server ended by itself", func(t *testing.T) {
		_, err := plane.helm(t, namespace, "uninstall", release, "--wait", "--timeout=10m")
		require.NoError(t, err)
		require.NoError(t, wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
			pods, err := plane.CoreV1().Pods(namespace).List(ctx, meta.ListOptions{})
			return err == nil && len(pods.Items) == 0, err
		}), "pods are left")
		assert.Equal(t, before, plane.everything(t, namespace))
		assert.Empty(t, played.kubelet.killed(), "they were asked to end, and took longer than the chart gives them")
		for _, pod := range played.kubelet.of("Deployment/ipam-carve") {
			if !slices.Contains(pod.args, "--no-such-flag=1") {
				assert.Equal(t, []int{0}, pod.codes, pod.name)
			}
		}
	}))
	t.Run("a release with every addition of the chart", func(t *testing.T) {
		(&operator{plane: plane, played: played, client: client, values: values}).adds(t, db.url(ownerUser))
	})
}
