package judge_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/judge"
)

// TestEachRowOfTheDecisionTable tests each row with both values of each option.
func TestEachRowOfTheDecisionTable(t *testing.T) {
	t.Parallel()
	usual := judge.Options{CleanupDisrupted: true}
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
		by   judge.Options
		want judge.Verdict
	}{
		"runs":                              {by: usual, want: judge.Keep},
		"another has its name":              {as: []func(*core.Pod){func(p *core.Pod) { p.UID = "b" }}, by: usual, want: judge.Gone},
		"succeeded":                         {as: []func(*core.Pod){phase(core.PodSucceeded, "")}, by: usual, want: judge.Gone},
		"failed":                            {as: []func(*core.Pod){phase(core.PodFailed, "Evicted")}, by: usual, want: judge.Gone},
		"failed while it is deleted":        {as: []func(*core.Pod){phase(core.PodFailed, ""), deleting}, by: usual, want: judge.Gone},
		"taint manager":                     {as: []func(*core.Pod){disrupted(core.ConditionTrue, "DeletionByTaintManager")}, by: usual, want: judge.Lost},
		"taint manager, not asked for":      {as: []func(*core.Pod){disrupted(core.ConditionTrue, "DeletionByTaintManager")}, want: judge.Keep},
		"taint manager has thought again":   {as: []func(*core.Pod){disrupted(core.ConditionFalse, "DeletionByTaintManager")}, by: usual, want: judge.Keep},
		"another disruption":                {as: []func(*core.Pod){disrupted(core.ConditionTrue, "PreemptionByScheduler")}, by: usual, want: judge.Keep},
		"deleted without a node":            {as: []func(*core.Pod){deleting, func(p *core.Pod) { p.Spec.NodeName = "" }}, by: usual, want: judge.Gone},
		"terminates":                        {as: []func(*core.Pod){deleting}, by: usual, want: judge.Keep},
		"terminates, which is enough":       {as: []func(*core.Pod){deleting}, by: judge.Options{CleanupTerminating: true}, want: judge.Lost},
		"its node is lost":                  {as: []func(*core.Pod){phase(core.PodUnknown, "NodeLost")}, by: usual, want: judge.Lost},
		"unknown for another reason":        {as: []func(*core.Pod){phase(core.PodUnknown, "")}, by: usual, want: judge.Keep},
		"pending":                           {as: []func(*core.Pod){phase(core.PodPending, "")}, by: usual, want: judge.Keep},
		"pending, and it has no node":       {as: []func(*core.Pod){phase(core.PodPending, ""), func(p *core.Pod) { p.Spec.NodeName = "" }}, by: usual, want: judge.Keep},
		"said to be lost by nobody's words": {as: []func(*core.Pod){phase(core.PodRunning, "NodeLost")}, by: usual, want: judge.Keep},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &core.Pod{ObjectMeta: meta.ObjectMeta{UID: "a"}, Spec: core.PodSpec{NodeName: "n"}, Status: core.PodStatus{Phase: core.PodRunning}}
			for _, change := range row.as {
				change(pod)
			}
			verdict, why := judge.Pod(pod, "a", row.by)
			require.Equal(t, row.want, verdict, why)
			require.Equal(t, verdict == judge.Keep, why == "")
		})
	}
	verdict, _ := judge.Pod(nil, "a", usual)
	require.Equal(t, judge.Gone, verdict)
}

// TestAddressIsSearchedInTheNetworkStatus tests W-24 and scenario 61.
func TestAddressIsSearchedInTheNetworkStatus(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		status, block string
		want          judge.Listing
	}{
		"listed":                       {`[{"interface": "eth1", "ips": ["10.0.0.7"]}]`, "10.0.0.7/32", judge.Listed},
		"listed beside others":         {`[{"name": "a", "default": true, "ips": ["10.1.0.1"]}, {"ips": ["10.0.0.7"]}]`, "10.0.0.7/32", judge.Listed},
		"one of a block":               {`[{"interface": "eth1", "ips": ["10.0.0.7"]}]`, "10.0.0.0/28", judge.Listed},
		"IPv6 written differently":     {`[{"interface": "eth1", "ips": ["2001:DB8:0:0::7"]}]`, "2001:db8::7/128", judge.Listed},
		"IPv4 written as IPv6":         {`[{"interface": "eth1", "ips": ["::ffff:10.0.0.7"]}]`, "10.0.0.7/32", judge.Listed},
		"another address":              {`[{"interface": "eth1", "ips": ["10.0.0.70"]}]`, "10.0.0.7/32", judge.Missing},
		"another interface":            {`[{"interface": "eth2", "ips": ["10.0.0.7"]}]`, "10.0.0.7/32", judge.Missing},
		"no addresses":                 {`[{"interface": "eth1"}]`, "10.0.0.7/32", judge.Missing},
		"blank":                        {" ", "10.0.0.7/32", judge.Missing},
		"malformed":                    {`[{"interface": `, "10.0.0.7/32", judge.Unverified},
		"of another form":              {`{"interface": "eth1"}`, "10.0.0.7/32", judge.Unverified},
		"an address that is malformed": {`[{"interface": "eth1", "ips": ["10.0.0"]}]`, "10.0.0.7/32", judge.Unverified},
		"no block yet":                 {`[{"interface": "eth1", "ips": ["10.0.0.70"]}]`, "", judge.Unverified},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &core.Pod{ObjectMeta: meta.ObjectMeta{Annotations: map[string]string{ipam.NetworkStatusAnnotation: row.status}}}
			pod.Status.Phase = core.PodRunning
			require.Equal(t, row.want, judge.Network(pod, "eth1", row.block))
			pod.Status.Phase = core.PodPending
			require.Equal(t, judge.Unverified, judge.Network(pod, "eth1", row.block), "it does not run yet")
		})
	}
	require.Equal(t, judge.Unverified, judge.Network(&core.Pod{Status: core.PodStatus{Phase: core.PodRunning}}, "eth1", "10.0.0.7/32"), "absent")
}
