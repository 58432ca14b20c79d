package claims

import (
	"context"
	"errors"
	"slices"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/podstate"
)

// Sweep repairs Carve's state after changes that the reconciler has missed. It ends consumers whose pod no longer exists, and releases claims that
// have no IPClaim. The manager runs it on the leader.
type Sweep struct {
	// Of is the reconciler with the realm to sweep.
	Of *Reconciler
	// Every is the interval. The first sweep is at the start.
	Every time.Duration
}

// Start sweeps until the context ends.
func (s *Sweep) Start(ctx context.Context) error {
	return repeat(ctx, s.Every, "cannot sweep for missed changes", s.sweep)
}

// sweep reads from Carve first and from the API server afterwards. If only Carve has an object, Kubernetes has therefore deleted it. The object
// cannot come back, because Kubernetes does not reuse UIDs. sweep stops at the first list that fails.
func (s *Sweep) sweep(ctx context.Context) error {
	pods, err := s.Of.Realm.Live(ctx)
	if err != nil {
		return err
	}
	held, err := s.heldInCarve(ctx)
	if err != nil {
		return err
	}
	verdicts, err := s.verdicts(ctx)
	if err != nil {
		return err
	}
	there, err := s.inventory(ctx)
	if err != nil {
		return err
	}
	if err := s.end(ctx, pods, verdicts, there.used); err != nil {
		return err
	}
	return s.release(ctx, held, there)
}

// page is the page size for lists.
const page = 500

// verdicts judges all pods and returns the verdicts by UID.
func (s *Sweep) verdicts(ctx context.Context) (map[types.UID]podstate.Verdict, error) {
	all := map[types.UID]podstate.Verdict{}
	for more, at := true, ""; more; more = at != "" {
		var pods core.PodList // a new list for each page, because the decoder keeps the old value of an absent field
		if err := s.Of.Live.List(ctx, &pods, client.Limit(page), client.Continue(at)); err != nil {
			return nil, err
		}
		at = pods.Continue
		for i := range pods.Items {
			all[pods.Items[i].UID], _ = podstate.Assess(&pods.Items[i], pods.Items[i].UID, s.Of.Judge)
		}
	}
	return all, nil
}

// inventory describes the objects in the API server that a sweep compares with Carve.
type inventory struct {
	// claims has the UIDs of all IPClaims. recorded has the UIDs of the claims in Carve that the IPClaims' metadata names.
	claims   map[types.UID]bool
	recorded map[string]bool
	// used has each pod's IPClaims.
	used map[types.UID][]types.NamespacedName
	// shown has the result of Reconciler.Shown.
	shown map[Place][]types.UID
}

func (i *inventory) shows(held *carve.IPClaim) bool {
	return slices.ContainsFunc(placeOf(held.Status.PoolRef.Project+"/"+held.Status.PoolRef.Name, held.Status.ClassName, held.Status.Address), func(p Place) bool { return len(i.shown[p]) > 0 })
}

// inventory reads these objects from the API server.
func (s *Sweep) inventory(ctx context.Context) (*inventory, error) {
	there := &inventory{claims: map[types.UID]bool{}, recorded: map[string]bool{}, used: map[types.UID][]types.NamespacedName{}}
	err := s.Of.each(ctx, func(claim *ipam.IPClaim) {
		there.claims[claim.UID] = true
		if durable(claim) {
			there.recorded[claim.Labels[ipam.ClaimLabel]] = true
		}
		for _, user := range usersOf(claim) {
			there.used[user.UID] = append(there.used[user.UID], client.ObjectKeyFromObject(claim))
		}
	})
	if err != nil || s.Of.Shown == nil {
		return there, err
	}
	there.shown, err = s.Of.Shown(ctx)
	return there, err
}

// each calls look with every IPClaim. It reads pages from the API server.
func (r *Reconciler) each(ctx context.Context, look func(*ipam.IPClaim)) error {
	for more, at := true, ""; more; more = at != "" {
		var claims ipam.IPClaimList
		if err := r.Live.List(ctx, &claims, client.Limit(page), client.Continue(at)); err != nil {
			return err
		}
		at = claims.Continue
		for i := range claims.Items {
			look(&claims.Items[i])
		}
	}
	return nil
}

// Limits for a sweep. If more than massDeleteMinimum objects are missing, and at least a tenth of all objects, the sweep releases none of them
// itself. The cause may be a restored cluster, or a realm that belongs to another cluster. Carve's own protection against mass expiry has the same
// limits.
const (
	massDeleteMinimum = 20
	manyInAll         = 10
)

func many(missing, all int) bool { return missing > massDeleteMinimum && missing*manyInAll >= all }

// end ends the consumers in Carve that have no pod. If IPClaims name the pod, end only queues these IPClaims for the reconciler. If many pods are
// missing, it lets them expire instead. Carve's protection against mass expiry then decides.
func (s *Sweep) end(ctx context.Context, pods []string, verdicts map[types.UID]podstate.Verdict, used map[types.UID][]types.NamespacedName) error {
	var gone, lost []types.UID
	for _, text := range pods {
		uid := types.UID(text)
		verdict, there := verdicts[uid]
		if there && verdict == podstate.Keep {
			continue
		}
		switch names := used[uid]; {
		case len(names) > 0:
			for _, name := range names {
				s.Of.feed.reconcile(ctx, name)
			}
		case there && verdict == podstate.Lost:
			lost = append(lost, uid)
		default:
			gone = append(gone, uid)
		}
	}
	if many(len(gone), len(pods)) {
		gone, lost = nil, append(lost, gone...)
		ctrl.LoggerFrom(ctx).Info("many pods of the realm are not in the cluster; Carve decides whether to end them", "pods", len(lost), "of", len(pods))
	}
	for _, uid := range gone {
		if err := s.Of.Realm.End(ctx, uid); err != nil {
			return err
		}
	}
	for _, uid := range lost {
		if err := s.Of.Realm.Lapse(ctx, uid); err != nil {
			return err
		}
	}
	return nil
}

// heldInCarve returns the claims that Carve holds for this cluster's IPClaims.
func (s *Sweep) heldInCarve(ctx context.Context) (held []carve.IPClaim, err error) {
	of, most := realmLabel+"="+s.Of.Realm.Name, page
	for c, err := range s.Of.Realm.Carve.Claims(ctx, s.Of.Realm.Project, carve.ListClaimsParams{LabelSelector: &of, Limit: &most}) {
		if err != nil {
			return nil, err
		}
		if holderOf(&c) != "" && c.Metadata.Annotations[clusterAnnotation] == s.Of.Realm.Cluster {
			held = append(held, c)
		}
	}
	return held, nil
}

// release releases the claims in Carve that have no IPClaim. It keeps a claim that has consumers, or whose address a live object shows. If there are
// many claims to release, it releases none, because a person has to decide.
func (s *Sweep) release(ctx context.Context, held []carve.IPClaim, there *inventory) error {
	var orphans, released []*carve.IPClaim
	for i := range held {
		if c := &held[i]; !there.claims[holderOf(c)] && !there.recorded[c.Metadata.UID] && !there.shows(c) {
			orphans = append(orphans, c)
		}
	}
	if many(len(orphans), len(held)) {
		ctrl.LoggerFrom(ctx).Info("many claims in Carve belong to no IPClaim; the sweep does not release them", "claims", len(orphans), "of", len(held))
		return nil
	}
	for _, c := range orphans {
		err := s.Of.releaseClaim(ctx, c.Metadata.Name, holderOf(c))
		if err == nil {
			released = append(released, c)
		} else if carve.CodeOf(err) != carve.ProblemCodeInUse {
			return errors.Join(err, s.cleaned(ctx, released))
		}
	}
	return s.cleaned(ctx, released)
}
