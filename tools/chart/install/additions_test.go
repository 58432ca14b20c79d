package install

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Objects that operators would otherwise add to the chart by hand.
const added = `
firstKey: { enabled: true }
certificate: { enabled: true, issuerRef: { name: internal, kind: ClusterIssuer }, dnsNames: [ipam.example.com] }
commonLabels: { example.com/cost-centre: "4711" }
extraVolumes: [{ name: greeting, configMap: { name: greeting } }]
extraVolumeMounts: [{ name: greeting, mountPath: /greeting, readOnly: true }]
extraObjects:
  - { apiVersion: v1, kind: ConfigMap, metadata: { name: greeting }, data: { region: "{{ .Values.region }}" } }
  - |
    apiVersion: v1
    kind: ConfigMap
    metadata: { name: {{ include "carve.fullname" . }}-text }
audit: { enabled: true }
retention:
  enabled: true
  database: { url: "OWNER", tlsSecret: { name: carve-database-owner } }
backup:
  enabled: true
  image: ` + backupImage + `
  persistentVolumeClaim: backups
  database: { url: "OWNER", tlsSecret: { name: carve-database-owner } }
`

var certificates = schema.GroupVersionResource{Group: "cert-manager.io", Version: "v1", Resource: "certificates"}

// operator installs a release with all optional parts, into the namespace and the database of a removed release.
type operator struct {
	plane  *controlPlane
	played *controllers
	client *http.Client
	values []string // of helm install and upgrade
}

func (o *operator) adds(t *testing.T, owner string) {
	// The controller manager's work, in each namespace.
	_, err := o.plane.CoreV1().ConfigMaps(namespace).Create(t.Context(), &core.ConfigMap{ObjectMeta: meta.ObjectMeta{Name: "kube-root-ca.crt"}, Data: map[string]string{"ca.crt": string(o.plane.ca.pem)}}, meta.CreateOptions{})
	require.NoError(t, err)
	before := o.plane.everything(t, namespace)
	file := filepath.Join(t.TempDir(), "added.yaml")
	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(added, "OWNER", owner)), 0o600))
	values := append(o.values, "--values="+file)

	var key string
	require.True(t, t.Run("a Job writes the first key into a Secret, by the rights of its ServiceAccount", func(t *testing.T) {
		_, err := o.plane.helm(t, namespace, append([]string{"install"}, values...)...)
		require.NoError(t, err, o.played.kubelet.told())
		assert.Equal(t, []int{0}, o.played.kubelet.codes("Job/ipam-carve-first-key"))
		key = o.firstKey(t)
		assert.NotContains(t, o.played.kubelet.told(), key)
		require.NoError(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
			status, _, err := call(ctx, o.client, http.MethodGet, home+"/v1/projects", key, "")
			return err == nil && status == http.StatusOK, nil
		}), "the key of the Secret is not believed")
	}))
	require.True(t, t.Run("an upgrade keeps the first key", func(t *testing.T) {
		_, err := o.plane.helm(t, namespace, append([]string{"upgrade"}, values...)...)
		require.NoError(t, err, o.played.kubelet.told())
		assert.Equal(t, []int{0, 0}, o.played.kubelet.codes("Job/ipam-carve-first-key"))
		assert.Equal(t, key, o.firstKey(t))
	}))
	t.Run("further volumes and objects are rendered from their templates", func(t *testing.T) {
		pod := o.played.kubelet.running("Deployment/ipam-carve")[0]
		text, err := os.ReadFile(filepath.Join(pod.sandbox.root, "greeting", "region"))
		require.NoError(t, err)
		assert.Equal(t, "eu-west1", string(text))
		_, err = o.plane.CoreV1().ConfigMaps(namespace).Get(t.Context(), "ipam-carve-text", meta.GetOptions{})
		assert.NoError(t, err)
		d, err := o.plane.AppsV1().Deployments(namespace).Get(t.Context(), "ipam-carve", meta.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, "4711", d.Labels["example.com/cost-centre"])
		assert.Equal(t, "4711", d.Spec.Template.Labels["example.com/cost-centre"])
	})
	t.Run("the Certificate of cert-manager has the Service's names", func(t *testing.T) {
		c, err := o.plane.dynamic(t).Resource(certificates).Namespace(namespace).Get(t.Context(), "ipam-carve", meta.GetOptions{})
		require.NoError(t, err)
		hosts, _, err := unstructured.NestedStringSlice(c.Object, "spec", "dnsNames")
		require.NoError(t, err)
		assert.Equal(t, []string{"ipam-carve", "ipam-carve.network", "ipam-carve.network.svc", "ipam.example.com"}, hosts)
		secret, _, _ := unstructured.NestedString(c.Object, "spec", "secretName")
		assert.Equal(t, "carve-server-tls", secret)
	})
	for _, name := range []string{"regular-audit", "retention", "backup"} {
		t.Run("the CronJob of "+name+" does its work", func(t *testing.T) { o.once(t, "ipam-carve-"+name) })
	}
	t.Run("helm uninstall leaves the key, and nothing else", func(t *testing.T) {
		_, err := o.plane.helm(t, namespace, "uninstall", release, "--wait", "--timeout=10m")
		require.NoError(t, err)
		assert.Equal(t, key, o.firstKey(t))
		require.NoError(t, wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
			pods, err := o.plane.CoreV1().Pods(namespace).List(ctx, meta.ListOptions{})
			return err == nil && len(pods.Items) == 0, err
		}), "pods are left")
		if pgDump != "" {
			backedUp(t, filepath.Join(o.played.kubelet.dir, "claims", "backups"))
		}
		require.NoError(t, o.plane.CoreV1().Secrets(namespace).Delete(t.Context(), "ipam-carve-first-key", meta.DeleteOptions{}))
		assert.Equal(t, before, o.plane.everything(t, namespace))
	})
}

func (o *operator) firstKey(t *testing.T) string {
	t.Helper()
	secret, err := o.plane.CoreV1().Secrets(namespace).Get(t.Context(), "ipam-carve-first-key", meta.GetOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, secret.Data["api-key"])
	return string(secret.Data["api-key"])
}

// once acts as `kubectl create job --from=cronjob/NAME`, and waits until the Job has succeeded.
func (o *operator) once(t *testing.T, name string) {
	t.Helper()
	if strings.HasSuffix(name, "backup") && pgDump == "" {
		t.Skip("there is no pg_dump in /usr/lib/postgresql: nothing can be backed up")
	}
	from, err := o.plane.BatchV1().CronJobs(namespace).Get(t.Context(), name, meta.GetOptions{})
	require.NoError(t, err)
	jobs := o.plane.BatchV1().Jobs(namespace)
	job, err := jobs.Create(t.Context(), &batch.Job{
		ObjectMeta: meta.ObjectMeta{
			Name: name + "-now", Labels: from.Spec.JobTemplate.Labels, Annotations: map[string]string{"cronjob.kubernetes.io/instantiate": "manual"},
			OwnerReferences: []meta.OwnerReference{*meta.NewControllerRef(from, batch.SchemeGroupVersion.WithKind("CronJob"))},
		},
		Spec: from.Spec.JobTemplate.Spec,
	}, meta.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 10*time.Minute, true, func(ctx context.Context) (bool, error) {
		now, err := jobs.Get(ctx, job.Name, meta.GetOptions{})
		return err == nil && len(now.Status.Conditions) > 0, err
	}), o.played.kubelet.told())
	assert.Equal(t, []int{0}, o.played.kubelet.codes("Job/"+job.Name), o.played.kubelet.told())
	// The garbage collector's work after the CronJob's deletion.
	background := meta.DeletePropagationBackground
	require.NoError(t, jobs.Delete(t.Context(), job.Name, meta.DeleteOptions{PropagationPolicy: &background}))
}

// backedUp checks that a claim contains one complete backup.
func backedUp(t *testing.T, claim string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(claim, "*", "manifest.json"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	text, err := os.ReadFile(found[0])
	require.NoError(t, err)
	var manifest struct {
		Regions []string
		Size    int64
	}
	require.NoError(t, json.Unmarshal(text, &manifest), string(text))
	assert.Equal(t, []string{"eu-west1", "us-east1", "ap-south1"}, manifest.Regions)
	assert.Positive(t, manifest.Size)
}
