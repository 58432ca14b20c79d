package pods

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	core "k8s.io/api/core/v1"
	api "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/claims"
	"github.com/carve-ipam/carve/controller/internal/entries"
	"github.com/carve-ipam/carve/controller/internal/podstate"
)

// own returns the pod's own claim for an entry, and creates it if it does not exist. It reads the pod from the API server before it creates a claim.
func (v *visit) own(ctx context.Context, e entries.Entry) (*ipam.IPClaim, error) {
	for i := range v.mine {
		claim := &v.mine[i]
		switch {
		case claims.MadeFor(claim, e):
			return claim, nil
		case claim.Annotations[ipam.EntryAnnotation] != e.Name:
		case v.mayUse(claim):
			return nil, nil //nolint:nilnil // what the pod may use stays under the entry's name
		default:
			return nil, errReleased
		}
	}
	if err := v.confirm(ctx); err != nil {
		return nil, err
	}
	if v.Judge.VerifyNetworkStatus && e.Interface != "" && podstate.NetworkIsSetUp(v.pod) {
		v.warn("NetworkIsSetUp", "entry "+e.Name+": the pod's interfaces already have their addresses, so a new claim would not give them another one")
		return nil, nil //nolint:nilnil // there is to be none
	}
	var template ipam.IPClaimTemplate
	err := v.Client.Get(ctx, types.NamespacedName{Namespace: v.pod.Namespace, Name: e.Template}, &template)
	if api.IsNotFound(err) {
		v.warn("TemplateMissing", "entry "+e.Name+": there is no IPClaimTemplate "+e.Template)
		return nil, nil //nolint:nilnil // the template wakes the pod when it is there
	}
	if err != nil {
		return nil, err
	}
	return v.make(ctx, e, &template)
}

// errReleased means that the controller is releasing a claim for an earlier version of the entry. The claim's deletion reconciles the pod again.
var errReleased = errors.New("the claim of the entry is being released")

// owned returns the claims that the pod owns, from the cache.
func (v *visit) owned(ctx context.Context) ([]ipam.IPClaim, error) {
	var all ipam.IPClaimList
	err := v.Client.List(ctx, &all, client.InNamespace(v.pod.Namespace), client.MatchingFields{claims.ByPod: string(v.pod.UID)})
	slices.SortFunc(all.Items, func(a, b ipam.IPClaim) int { return strings.Compare(a.Name, b.Name) })
	return all.Items, err
}

// owns reports whether the pod owns a claim that was made for the entry.
func (v *visit) owns(claim *ipam.IPClaim, e entries.Entry) bool {
	user := claims.PodOf(claim)
	return user != nil && user.UID == v.pod.UID && claims.MadeFor(claim, e)
}

// mayUse reports whether the pod's network may use the block of a claim. That is possible once the claim has a block and the pod has a node.
func (v *visit) mayUse(claim *ipam.IPClaim) bool {
	return claim.Status.Claim != nil && v.pod.Spec.NodeName != ""
}

// keep adds outcomes for the claims that the pod may use but no longer requests. The key is the name of the claim's entry. If that entry now has
// another claim, the key is the claim's name.
func (v *visit) keep(told entries.Outcomes) {
	for i := range v.mine {
		claim := &v.mine[i]
		if !v.mayUse(claim) || !claims.Dropped(v.pod, claim) {
			continue
		}
		name := claim.Annotations[ipam.EntryAnnotation]
		if other := told[name]; other.Claim != "" && other.Claim != claim.Name {
			name = claim.Name
		}
		told[name] = entries.Outcome{Claim: claim.Name, CIDR: claim.Status.CIDR, Address: claim.Status.Address, Kept: true}
		v.warn("ClaimKept", "entry "+claim.Annotations[ipam.EntryAnnotation]+" was changed: the pod keeps IPClaim "+claim.Name+" until the pod ends, because it has a node and may use the block")
	}
}

// confirm reads the pod from the API server. The cache may be old, so the pod may have ended or have other annotations.
func (v *visit) confirm(ctx context.Context) error {
	if v.confirmed {
		return nil
	}
	var pod core.Pod
	if err := v.Live.Get(ctx, client.ObjectKeyFromObject(v.pod), &pod); err != nil {
		if api.IsNotFound(err) {
			return errAnother
		}
		return err
	}
	same := pod.UID == v.pod.UID && pod.Annotations[ipam.ClaimsAnnotation] == v.pod.Annotations[ipam.ClaimsAnnotation]
	if !same || !v.asks(&pod) {
		return errAnother
	}
	v.pod, v.confirmed = &pod, true
	return nil
}

// make creates an entry's claim. An entry has several possible names for its claim, and make tries them one after another. Before it tries the next
// name, it writes that name into the pod's status. A later attempt therefore begins with the written name, even if an earlier name has become free.
// Without the written name, it would create a second claim.
func (v *visit) make(ctx context.Context, e entries.Entry, template *ipam.IPClaimTemplate) (*ipam.IPClaim, error) {
	for attempt := v.attempt(e); attempt < entries.Attempts; attempt++ {
		claim := v.claim(e, template, attempt)
		if told := entries.OutcomesOf(v.pod); attempt > 0 && told[e.Name].Claim != claim.Name {
			told[e.Name] = entries.Outcome{Claim: claim.Name}
			if err := v.tell(ctx, told); err != nil {
				return nil, err
			}
		}
		err := v.Client.Create(ctx, claim)
		if err == nil {
			return claim, nil
		}
		if !api.IsAlreadyExists(err) {
			v.warn("ClaimNotMade", fmt.Sprintf("entry %s: %v", e.Name, err))
			return nil, err
		}
		there := new(ipam.IPClaim)
		if err := v.Live.Get(ctx, client.ObjectKeyFromObject(claim), there); err != nil {
			return nil, err
		}
		if v.owns(there, e) {
			return there, nil
		}
	}
	v.warn("NameTaken", fmt.Sprintf("entry %s: other objects have all %d names of its claim", e.Name, entries.Attempts))
	return nil, fmt.Errorf("other objects have all names for the claim of entry %s", e.Name)
}

// attempt returns the number of the first name to try. If the pod's status has a name, it returns the number of that name.
func (v *visit) attempt(e entries.Entry) int {
	told := entries.OutcomesOf(v.pod)[e.Name].Claim
	for attempt := range entries.Attempts {
		if entries.ClaimName(v.pod.Name, v.pod.UID, e.Name, attempt) == told {
			return attempt
		}
	}
	return 0
}

// claim returns the pod's claim from a template. The owner reference does not block the pod's deletion, because the claim waits for the pod's end.
func (v *visit) claim(e entries.Entry, template *ipam.IPClaimTemplate, attempt int) *ipam.IPClaim {
	of := template.DeepCopy().Spec
	annotations := map[string]string{}
	maps.Copy(annotations, of.Metadata.Annotations)
	annotations[ipam.EntryAnnotation], annotations[ipam.TemplateAnnotation] = e.Name, e.Template
	if e.Interface != "" {
		annotations[ipam.InterfaceAnnotation] = e.Interface
	}
	yes := true
	return &ipam.IPClaim{
		ObjectMeta: meta.ObjectMeta{
			Namespace: v.pod.Namespace, Name: entries.ClaimName(v.pod.Name, v.pod.UID, e.Name, attempt),
			Labels: of.Metadata.Labels, Annotations: annotations, Finalizers: []string{ipam.Finalizer},
			OwnerReferences: []meta.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: v.pod.Name, UID: v.pod.UID, Controller: &yes}},
		},
		Spec: of.Spec,
	}
}
