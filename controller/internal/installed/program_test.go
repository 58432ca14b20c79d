package installed_test

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordination "k8s.io/api/coordination/v1"
	condition "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/carve-ipam/carve/controller/internal/conditions"
)

func TestProgramReportsItsWorkInProbesMetricsAndLogs(t *testing.T) {
	s := begin(t, given(t))
	p := s.start()
	pod, owner := s.pod("worker")
	claim := s.claim("worker-net", one, owner)
	s.bound(claim)

	s.eventually("it leads, and Carve can be reached", func() bool {
		return strings.Contains(p.get(p.probes, "/readyz").body, `"leads":true,"carve":{"asked":true,"reachable":true`)
	})
	assert.Equal(t, response{http.StatusOK, "{\"status\":\"ok\"}\n"}, p.get(p.probes, "/healthz"))
	s.eventually("it renews", func() bool {
		return !strings.Contains(p.get(p.metrics, "/metrics").body, "carve_controller_consumers_renewed_total 0\n")
	})
	metrics := p.get(p.metrics, "/metrics").body
	for _, line := range []string{ // metrics of all claims in the cluster, including other stories' claims
		`carve_controller_build_info{commit="",go_version="go`, `carve_controller_call_duration_seconds_count{method="PUT",outcome="ok"}`,
		`carve_controller_claims{state="bound"}`, `carve_controller_claims{state="drifted"}`, `carve_controller_pod_to_block_seconds_count 1`,
		`controller_runtime_reconcile_total{controller="claims",result="success"}`, `leader_election_master_status{name="carve-controller.ipam.carve.dev"} 1`,
	} {
		assert.True(t, strings.Contains(metrics, line), line) //nolint:testifylint // the metrics are long
	}

	second := s.start()
	assert.Contains(t, second.get(second.probes, "/readyz").body, `"leads":false`)
	assert.NotContains(t, second.get(second.metrics, "/metrics").body, "carve_controller_claims{")
	lease := coordination.Lease{ObjectMeta: meta.ObjectMeta{Namespace: s.name, Name: "carve-controller.ipam.carve.dev"}}
	s.get(&lease)
	first := *lease.Spec.HolderIdentity
	p.stop()
	s.eventually("the lease was given back, and the other took it at once", func() bool {
		s.get(&lease)
		return *lease.Spec.HolderIdentity != "" && *lease.Spec.HolderIdentity != first
	})
	s.remove(pod)
	s.vanishes(claim)
	second.stop()
	s.get(&lease)
	assert.Empty(t, *lease.Spec.HolderIdentity, "nobody has the lease")

	var line struct{ Time, Level, Msg, Version, Project string }
	require.NoError(t, json.Unmarshal([]byte(lineWith(t, p.log(), "controller started")), &line))
	assert.Equal(t, "INFO", line.Level)
	assert.Equal(t, "v1.2.3", line.Version)
	assert.Equal(t, s.name, line.Project)
}

func lineWith(t *testing.T, log, text string) string {
	t.Helper()
	for line := range strings.Lines(log) {
		if strings.Contains(line, text) {
			return line
		}
	}
	require.FailNow(t, "the log does not say "+text, log)
	return ""
}

// TestAControllerIsReadyWhileCarveIsAway checks that the controller reports the outage and releases nothing.
func TestAControllerIsReadyWhileCarveIsAway(t *testing.T) {
	s := begin(t, given(t))
	p := s.start("--carve=http://127.0.0.1:1") // no server listens there
	claim := s.claim("web", one)
	s.eventually("it is told", func() bool { return strings.Contains(p.get(p.probes, "/readyz").body, "Carve cannot be reached") })
	assert.Equal(t, http.StatusOK, p.get(p.probes, "/readyz").status)
	s.eventually("the claim says so too", func() bool {
		s.get(claim)
		return len(claim.Status.Conditions) > 0 && claim.Status.Conditions[0].Message == "Carve does not respond"
	})
	assert.Contains(t, p.get(p.metrics, "/metrics").body, `carve_controller_call_duration_seconds_count{method="PUT",outcome="unanswered"}`)
	p.stop()
	s.start() // and continues once Carve is reachable
	s.bound(claim)
}

// TestAControllerWithAnotherRealmDoesNotStart checks that a live pod's block stays.
func TestAControllerWithAnotherRealmDoesNotStart(t *testing.T) {
	s := begin(t, given(t))
	p := s.start()
	_, owner := s.pod("worker")
	claim := s.claim("worker-net", one, owner)
	s.bound(claim)
	p.stop()
	held, err := world.Carve.GetClaim(t.Context(), s.name, claim.Status.Claim.Name)
	require.NoError(t, err)
	for flag, says := range map[string]string{
		"--realm=another": "start it with --realm=" + held.Metadata.Labels["ipam.carve.dev/realm"], "--project=another": "start the controller with --project=" + s.name,
	} {
		cmd := exec.CommandContext(t.Context(), world.program, "--carve="+world.CarveURL, "--project="+s.name, "--metrics-bind-address=0",
			"--health-probe-bind-address=0", "--leader-elect-resource-namespace="+s.name, flag)
		cmd.Env = []string{"KUBECONFIG=" + s.kubeconfig}
		text, err := cmd.CombinedOutput()
		require.Error(t, err, flag)
		assert.Equal(t, 1, cmd.ProcessState.ExitCode())
		assert.Contains(t, string(text), says)
	}
	s.get(claim)
	assert.True(t, condition.IsStatusConditionTrue(claim.Status.Conditions, conditions.Ready))
	s.start()
	s.bound(claim)
}

func TestTheVersionIsPrinted(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), world.program, "--version").Output()
	require.NoError(t, err)
	assert.Regexp(t, `^carve controller v1\.2\.3, go1\.`, string(out))
}
