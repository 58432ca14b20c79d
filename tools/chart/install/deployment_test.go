package install

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const hashLabel = "pod-template-hash"

func (c *controllers) deployment(ctx context.Context, d *apps.Deployment, pods []core.Pod) error {
	template, err := json.Marshal(d.Spec.Template)
	if err != nil {
		return err
	}
	sum := fnv.New32a()
	_, _ = sum.Write(template)
	hash := fmt.Sprintf("%08x", sum.Sum32())
	pods = slices.DeleteFunc(pods, func(p core.Pod) bool { return p.DeletionTimestamp != nil })
	var current, old []core.Pod
	var ready, available int32
	for _, pod := range pods {
		if pod.Labels[hashLabel] == hash {
			current = append(current, pod)
		} else {
			old = append(old, pod)
		}
		if readySince(&pod) != nil {
			ready++
		}
		if c.available(d, &pod) {
			available++
		}
	}
	desired := int(*d.Spec.Replicas)
	surge, spare, err := bounds(d, desired)
	if err != nil {
		return err
	}
	switch {
	case len(current) < desired && len(pods) < desired+surge:
		if err := c.create(ctx, d, apps.SchemeGroupVersion.WithKind("Deployment"), d.Spec.Template, map[string]string{hashLabel: hash}); err != nil {
			return err
		}
	case len(current) > desired:
		return c.remove(ctx, &current[0])
	case len(old) > 0:
		// A pod that does not serve may always be removed; a serving one only if enough others remain.
		i := slices.IndexFunc(old, func(p core.Pod) bool { return !c.available(d, &p) })
		if i < 0 && int(available) > desired-spare {
			i = 0
		}
		if i >= 0 {
			return c.remove(ctx, &old[i])
		}
	}
	status := *d.Status.DeepCopy()
	status.ObservedGeneration, status.Replicas, status.UpdatedReplicas = d.Generation, int32(len(pods)), int32(len(current))
	status.ReadyReplicas, status.AvailableReplicas, status.UnavailableReplicas = ready, available, int32(desired)-min(available, int32(desired))
	complete := len(old) == 0 && len(current) == desired && int(available) == desired
	status.Conditions = conditions(status.Conditions, complete, int(available) >= desired-spare)
	if equality.Semantic.DeepEqual(status, d.Status) {
		return nil
	}
	d.Status = status
	_, err = c.clients.AppsV1().Deployments(c.namespace).UpdateStatus(ctx, d, meta.UpdateOptions{})
	return err
}

// bounds returns the numbers of pods by which a rollout may exceed or fall below the desired number.
func bounds(d *apps.Deployment, desired int) (surge, spare int, err error) {
	if d.Spec.Strategy.Type == apps.RecreateDeploymentStrategyType {
		return 0, desired, nil
	}
	if surge, err = intstr.GetScaledValueFromIntOrPercent(d.Spec.Strategy.RollingUpdate.MaxSurge, desired, true); err != nil {
		return 0, 0, err
	}
	spare, err = intstr.GetScaledValueFromIntOrPercent(d.Spec.Strategy.RollingUpdate.MaxUnavailable, desired, false)
	return surge, spare, err
}

func conditions(was []apps.DeploymentCondition, complete, enough bool) []apps.DeploymentCondition {
	progressing := apps.DeploymentCondition{Type: apps.DeploymentProgressing, Status: core.ConditionTrue, Reason: "ReplicaSetUpdated"}
	if complete {
		progressing.Reason = "NewReplicaSetAvailable"
	}
	available := apps.DeploymentCondition{Type: apps.DeploymentAvailable, Status: core.ConditionFalse, Reason: "MinimumReplicasUnavailable"}
	if enough {
		available.Status, available.Reason = core.ConditionTrue, "MinimumReplicasAvailable"
	}
	is := []apps.DeploymentCondition{progressing, available}
	for i := range is {
		is[i].LastUpdateTime, is[i].LastTransitionTime = meta.Now(), meta.Now()
		for _, before := range was {
			if before.Type == is[i].Type && before.Status == is[i].Status && before.Reason == is[i].Reason {
				is[i] = before
			}
		}
	}
	return is
}

func readySince(pod *core.Pod) *meta.Time {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == core.PodReady && condition.Status == core.ConditionTrue {
			return &condition.LastTransitionTime
		}
	}
	return nil
}

// available reports whether a pod has been ready for the Deployment's minimum time. If not, it schedules another pass for the end of that time.
func (c *controllers) available(d *apps.Deployment, pod *core.Pod) bool {
	since := readySince(pod)
	if since == nil {
		return false
	}
	left := time.Until(since.Add(time.Duration(d.Spec.MinReadySeconds) * time.Second))
	if left > 0 {
		c.pokeAfter(left)
		return false
	}
	return true
}
