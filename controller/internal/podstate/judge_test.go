package podstate_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/podstate"
)

// TestEachRowOfTheDecisionTable tests each row with both values of each option.
func TestEachRowOfTheDecisionTable(t *testing.T) {
	t.Parallel()
	usual := podstate.Options{CleanupDisrupted: true}
	now := meta.Now()
	deleting := func(p *core.Pod) { p.DeletionTimestamp = &now }
	phase := func(phase core.PodPhase, reason string) func(*core.Pod) {
		return func(p *core.Pod) { p.Status.Phase, p.Status.Reason = phase, reason }
	}
	disrupted := func(status core.ConditionStatus, reason string) func(*core.Pod) {
		return func(p *core.Pod) {
			p.Status.Conditions = []core.PodCondition{{Type: core.PodReady}, {Type: core.DisruptionTarget, Status: status, Reason: reason}}
		}
	}
	for name, row := range map[string]struct {
		as   []func(*core.Pod)
		by   podstate.Options
		want podstate.Verdict
	}{
		"runs":                              {by: usual, want: podstate.Keep},
		"another has its name":              {as: []func(*core.Pod){func(p *core.Pod) { p.UID = "b" }}, by: usual, want: podstate.Gone},
		"succeeded":                         {as: []func(*core.Pod){phase(core.PodSucceeded, "")}, by: usual, want: podstate.Gone},
		"failed":                            {as: []func(*core.Pod){phase(core.PodFailed, "Evicted")}, by: usual, want: podstate.Gone},
		"failed while it is deleted":        {as: []func(*core.Pod){phase(core.PodFailed, ""), deleting}, by: usual, want: podstate.Gone},
		"taint manager":                     {as: []func(*core.Pod){disrupted(core.ConditionTrue, "DeletionByTaintManager")}, by: usual, want: podstate.Lost},
		"taint manager, not asked for":      {as: []func(*core.Pod){disrupted(core.ConditionTrue, "DeletionByTaintManager")}, want: podstate.Keep},
		"taint manager has thought again":   {as: []func(*core.Pod){disrupted(core.ConditionFalse, "DeletionByTaintManager")}, by: usual, want: podstate.Keep},
		"another disruption":                {as: []func(*core.Pod){disrupted(core.ConditionTrue, "PreemptionByScheduler")}, by: usual, want: podstate.Keep},
		"deleted without a node":            {as: []func(*core.Pod){deleting, func(p *core.Pod) { p.Spec.NodeName = "" }}, by: usual, want: podstate.Gone},
		"terminates":                        {as: []func(*core.Pod){deleting}, by: usual, want: podstate.Keep},
		"terminates, which is enough":       {as: []func(*core.Pod){deleting}, by: podstate.Options{CleanupTerminating: true}, want: podstate.Lost},
		"its node is lost":                  {as: []func(*core.Pod){phase(core.PodUnknown, "NodeLost")}, by: usual, want: podstate.Lost},
		"unknown for another reason":        {as: []func(*core.Pod){phase(core.PodUnknown, "")}, by: usual, want: podstate.Keep},
		"pending":                           {as: []func(*core.Pod){phase(core.PodPending, "")}, by: usual, want: podstate.Keep},
		"pending, and it has no node":       {as: []func(*core.Pod){phase(core.PodPending, ""), func(p *core.Pod) { p.Spec.NodeName = "" }}, by: usual, want: podstate.Keep},
		"said to be lost by nobody's words": {as: []func(*core.Pod){phase(core.PodRunning, "NodeLost")}, by: usual, want: podstate.Keep},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &core.Pod{ObjectMeta: meta.ObjectMeta{UID: "a"}, Spec: core.PodSpec{NodeName: "n"}, Status: core.PodStatus{Phase: core.PodRunning}}
			for _, change := range row.as {
				change(pod)
			}
			verdict, why := podstate.Assess(pod, "a", row.by)
			require.Equal(t, row.want, verdict, why)
			require.Equal(t, verdict == podstate.Keep, why == "")
		})
	}
	verdict, _ := podstate.Assess(nil, "a", usual)
	require.Equal(t, podstate.Gone, verdict)
}

// TestAddressIsSearchedInTheNetworkStatus tests W-24 and scenario 61.
func TestAddressIsSearchedInTheNetworkStatus(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		status, block string
		want          podstate.Listing
	}{
		"listed":                       {`[{"interface": "eth1", "ips": ["10.0.0.7"]}]`, "10.0.0.7/32", podstate.Listed},
		"listed beside others":         {`[{"name": "a", "default": true, "ips": ["10.1.0.1"]}, {"ips": ["10.0.0.7"]}]`, "10.0.0.7/32", podstate.Listed},
		"one of a block":               {`[{"interface": "eth1", "ips": ["10.0.0.7"]}]`, "10.0.0.0/28", podstate.Listed},
		"IPv6 written differently":     {`[{"interface": "eth1", "ips": ["2001:DB8:0:0::7"]}]`, "2001:db8::7/128", podstate.Listed},
		"IPv4 written as IPv6":         {`[{"interface": "eth1", "ips": ["::ffff:10.0.0.7"]}]`, "10.0.0.7/32", podstate.Listed},
		"another address":              {`[{"interface": "eth1", "ips": ["10.0.0.70"]}]`, "10.0.0.7/32", podstate.Missing},
		"another interface":            {`[{"interface": "eth2", "ips": ["10.0.0.7"]}]`, "10.0.0.7/32", podstate.Missing},
		"no addresses":                 {`[{"interface": "eth1"}]`, "10.0.0.7/32", podstate.Missing},
		"blank":                        {" ", "10.0.0.7/32", podstate.Missing},
		"malformed":                    {`[{"interface": `, "10.0.0.7/32", podstate.Unverified},
		"of another form":              {`{"interface": "eth1"}`, "10.0.0.7/32", podstate.Unverified},
		"an address that is malformed": {`[{"interface": "eth1", "ips": ["10.0.0"]}]`, "10.0.0.7/32", podstate.Unverified},
		"no block yet":                 {`[{"interface": "eth1", "ips": ["10.0.0.70"]}]`, "", podstate.Unverified},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &core.Pod{ObjectMeta: meta.ObjectMeta{Annotations: map[string]string{ipam.NetworkStatusAnnotation: row.status}}}
			pod.Status.Phase = core.PodRunning
			require.Equal(t, row.want, podstate.Network(pod, "eth1", row.block))
			pod.Status.Phase = core.PodPending
			require.Equal(t, podstate.Unverified, podstate.Network(pod, "eth1", row.block), "it does not run yet")
		})
	}
	require.Equal(t, podstate.Unverified, podstate.Network(&core.Pod{Status: core.PodStatus{Phase: core.PodRunning}}, "eth1", "10.0.0.7/32"), "absent")
}
