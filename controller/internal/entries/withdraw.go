package entries

import (
	"context"

	core "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/patch"
)

// Withdraw removes a claim's block from a pod's status annotation. Call it before the block's release, so that no two pods have the same address in
// their statuses. It ignores a missing pod. If the annotation does not have the block, it sends no request.
func Withdraw(ctx context.Context, writer client.Client, pod *core.Pod, claim string, rules ...patch.Option) error {
	told, found := OutcomesOf(pod), false
	for name, o := range told {
		if o.Claim == claim && o.CIDR != "" {
			told[name], found = Outcome{Claim: claim}, true
		}
	}
	if !found {
		return nil
	}
	return client.IgnoreNotFound(patch.Change(ctx, writer, pod, func() { pod.Annotations[ipam.StatusAnnotation] = told.String() }, rules...))
}
