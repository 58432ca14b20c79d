package chart

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// podSpecs returns the pods of the rendered objects, by the object that makes them.
func podSpecs(t *testing.T, all []map[string]any) map[string]map[string]any {
	t.Helper()
	pods := map[string]map[string]any{}
	for _, object := range all {
		for _, path := range [][]any{{"spec"}, {"spec", "template", "spec"}, {"spec", "jobTemplate", "spec", "template", "spec"}} {
			if spec, ok := dig(object, path...).(map[string]any); ok && spec["containers"] != nil {
				pods[label(object)] = spec
			}
		}
	}
	require.NotEmpty(t, pods)
	return pods
}

func containers(spec map[string]any) []any {
	return append(asList(spec["initContainers"]), asList(spec["containers"])...)
}

func TestEveryPodIsHardened(t *testing.T) {
	t.Parallel()
	for name, path := range valuesFiles(t) {
		for owner, spec := range podSpecs(t, objects(t, render(t, source, "--values="+path))) {
			what := fmt.Sprintf("%s of %s", owner, name)
			assert.Equal(t, true, dig(spec, "securityContext", "runAsNonRoot"), what)
			assert.Equal(t, "RuntimeDefault", dig(spec, "securityContext", "seccompProfile", "type"), what)
			assert.Equal(t, false, spec["automountServiceAccountToken"], what)
			// Kubernetes would set CARVE_PORT and others for a Service called carve, and the server refuses unknown CARVE_ variables.
			assert.Equal(t, false, spec["enableServiceLinks"], what)
			for _, ours := range []string{"hostNetwork", "hostPID", "hostIPC"} {
				assert.NotContains(t, spec, ours, what)
			}
			for _, volume := range asList(spec["volumes"]) {
				assert.NotContains(t, volume, "hostPath", what)
			}
			for _, container := range containers(spec) {
				of := fmt.Sprintf("container %v of %s", dig(container, "name"), what)
				assert.Equal(t, true, dig(container, "securityContext", "readOnlyRootFilesystem"), of)
				assert.Equal(t, false, dig(container, "securityContext", "allowPrivilegeEscalation"), of)
				assert.Equal(t, false, dig(container, "securityContext", "privileged"), of)
				assert.Equal(t, []any{"ALL"}, dig(container, "securityContext", "capabilities", "drop"), of)
				assert.NotNil(t, dig(container, "resources", "requests", "cpu"), of)
				assert.NotNil(t, dig(container, "resources", "requests", "memory"), of)
				assert.NotNil(t, dig(container, "resources", "limits", "memory"), of)
				assert.Contains(t, dig(container, "image"), ":", of)
			}
		}
	}
}

func TestPodsRunAsTheImagesUser(t *testing.T) {
	t.Parallel()
	for owner, spec := range podSpecs(t, objects(t, render(t, source, "--values=testdata/values/everything.yaml"))) {
		for _, id := range []string{"runAsUser", "runAsGroup", "fsGroup"} {
			assert.EqualValues(t, 65532, dig(spec, "securityContext", id), owner)
		}
	}
}

func TestUsersAreOmittedForAPlatformThatAssignsThem(t *testing.T) {
	t.Parallel()
	for owner, spec := range podSpecs(t, objects(t, render(t, source, "--values=testdata/values/platform-users.yaml"))) {
		for _, id := range []string{"runAsUser", "runAsGroup", "fsGroup"} {
			assert.NotContains(t, spec["securityContext"], id, owner)
		}
	}
}

// Objects refer to secrets and contain none, except in the dev profile.
func TestOnlyTheDevProfileContainsSecrets(t *testing.T) {
	t.Parallel()
	for name, path := range valuesFiles(t) {
		for _, object := range objects(t, render(t, source, "--values="+path)) {
			if object["kind"] == "Secret" && (object["data"] != nil || object["stringData"] != nil) {
				assert.Equal(t, "dev", strings.TrimPrefix(name, "values-"), label(object))
			}
		}
	}
}

// A pod's grace period covers the server's stop, with any drain delay.
func TestGracePeriodCoversTheDrainDelay(t *testing.T) {
	t.Parallel()
	for delay, want := range map[string]float64{"0": 35, "10": 45, "300": 335} {
		pods := podSpecs(t, objects(t, render(t, source, "--values=testdata/values/minimal.yaml", "--set=drainDelaySeconds="+delay)))
		server := pods["Deployment/ipam-carve"]
		assert.InDelta(t, want, server["terminationGracePeriodSeconds"], 0)
		assert.Contains(t, dig(server, "containers", 0, "args"), "--drain-delay="+delay+"s")
		probe := dig(server, "containers", 0, "readinessProbe")
		if period, failures := dig(probe, "periodSeconds").(float64), dig(probe, "failureThreshold").(float64); delay == "10" {
			assert.Less(t, period*failures, 10.0, "the default leaves time to see that a pod is not ready")
		}
	}
}

// Selectors of policies, budgets and Services match the intended pods.
func TestSelectorsMatchTheirPods(t *testing.T) {
	t.Parallel()
	all := objects(t, render(t, source, "--values=testdata/values/everything.yaml"))
	templates := map[string]map[string]any{}
	for _, object := range all {
		for _, path := range [][]any{{"spec", "template", "metadata", "labels"}, {"spec", "jobTemplate", "spec", "template", "metadata", "labels"}} {
			if labels, ok := dig(object, path...).(map[string]any); ok {
				templates[label(object)] = labels
			}
		}
	}
	want := map[string][]string{
		"Deployment/ipam": {"Deployment/ipam"}, "Service/ipam": {"Deployment/ipam"}, "Service/ipam-admin": {"Deployment/ipam"}, "PodDisruptionBudget/ipam": {"Deployment/ipam"},
		"NetworkPolicy/ipam": {"Deployment/ipam"}, "NetworkPolicy/ipam-migrate": {"Job/ipam-migrate"},
		"NetworkPolicy/ipam-first-key": {"Job/ipam-first-key"},
	}
	for _, object := range all {
		var selector map[string]any
		for _, path := range [][]any{{"spec", "selector", "matchLabels"}, {"spec", "podSelector", "matchLabels"}, {"spec", "selector"}} {
			if found, ok := dig(object, path...).(map[string]any); ok && selector == nil {
				selector = found
			}
		}
		if _, checked := want[label(object)]; !checked {
			continue
		}
		var picked []string
		for owner, labels := range templates {
			fits := true
			for k, v := range selector {
				fits = fits && labels[k] == v
			}
			if fits {
				picked = append(picked, owner)
			}
		}
		assert.Equal(t, want[label(object)], picked, label(object))
		delete(want, label(object))
	}
	assert.Empty(t, want, "not rendered")
}

func TestHookJobsDoNotUseTheReleasesServiceAccount(t *testing.T) {
	t.Parallel()
	for _, object := range objects(t, render(t, source, "--values=testdata/values/everything.yaml")) {
		if object["kind"] != "Job" || label(object) == "Job/ipam-first-key" { // which comes after the release
			continue
		}
		assert.Equal(t, "pre-install,pre-upgrade", dig(object, "metadata", "annotations", "helm.sh/hook"))
		assert.NotContains(t, dig(object, "spec", "template", "spec"), "serviceAccountName", "the release's is not there before the release")
	}
}

// The Job of the first key may make two kinds of calls on one Secret. It only gets its token from the volume, which sets the token's lifetime.
func TestFirstKeyJobMayOnlyGetAndPatchItsSecret(t *testing.T) {
	t.Parallel()
	for _, object := range objects(t, render(t, source, "--values=testdata/values/everything.yaml")) {
		switch label(object) {
		case "Role/ipam-first-key":
			assert.Equal(t, []any{map[string]any{
				"apiGroups": []any{""}, "resources": []any{"secrets"}, "resourceNames": []any{"carve-admin"}, "verbs": []any{"get", "patch"},
			}}, object["rules"])
		case "Secret/carve-admin":
			assert.Equal(t, "keep", dig(object, "metadata", "annotations", "helm.sh/resource-policy"))
		}
	}
}
