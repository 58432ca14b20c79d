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
	"github.com/carve-ipam/carve/controller/internal/judge"
)

// Sweep finds what was missed: pods that live in Carve and nowhere else, and what Carve holds for IPClaims that are no more. The manager runs it
// where it leads.
type Sweep struct {
	// Of is the reconciler whose realm is swept.
	Of *Reconciler
	// Every is how often, beside once at the start.
	Every time.Duration
}

// Start sweeps until the context ends.
func (s *Sweep) Start(ctx context.Context) error {
	return repeat(ctx, s.Every, "looking for what was missed", s.sweep)
}

// sweep asks Carve first, and the API server itself only then: what was there before and is not among what it answers is gone for certain, as no UID
// comes back. A list that fails is no list.
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

// page is how many objects each server is asked for at once.
const page = 500

// verdicts judges all pods, by their UIDs.
func (s *Sweep) verdicts(ctx context.Context) (map[types.UID]judge.Verdict, error) {
	all := map[types.UID]judge.Verdict{}
	for more, at := true, ""; more; more = at != "" {
		var pods core.PodList // a new one for each page: what a page leaves out is not what the one before had
		if err := s.Of.Live.List(ctx, &pods, client.Limit(page), client.Continue(at)); err != nil {
			return nil, err
		}
		at = pods.Continue
		for i := range pods.Items {
			all[pods.Items[i].UID], _ = judge.Pod(&pods.Items[i], pods.Items[i].UID, s.Of.Judge)
		}
	}
	return all, nil
}

// inventory is what the API server has.
type inventory struct {
	// claims are the UIDs of all IPClaims, and recorded those of the claims in Carve that their metadata names.
	claims   map[types.UID]bool
	recorded map[string]bool
	// used are the IPClaims that pods use.
	used map[types.UID][]types.NamespacedName
	// shown are the addresses that objects of other kinds show.
	shown map[Place][]types.UID
}

func (i *inventory) shows(held *carve.IPClaim) bool {
	return slices.ContainsFunc(placeOf(held.Status.PoolRef.Project+"/"+held.Status.PoolRef.Name, held.Status.ClassName, held.Status.Address), func(p Place) bool { return len(i.shown[p]) > 0 })
}

// inventory lists what the API server has.
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

// each looks at all IPClaims of the API server itself, in pages.
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

// Where so many are missing, and that part of all, something else may be wrong than that they are gone: another cluster's realm, or a cluster that
// was restored. The numbers are those of Carve's own breaker.
const (
	manyAtLeast = 20
	manyInAll   = 10
)

func many(missing, all int) bool { return missing > manyAtLeast && missing*manyInAll >= all }

// end ends the pods of Carve that have gone. Those that IPClaims tell of are left to these. When they are many they are only let expire: Carve's
// breaker decides on them then.
func (s *Sweep) end(ctx context.Context, pods []string, verdicts map[types.UID]judge.Verdict, used map[types.UID][]types.NamespacedName) error {
	var gone, lost []types.UID
	for _, text := range pods {
		uid := types.UID(text)
		verdict, there := verdicts[uid]
		if there && verdict == judge.Keep {
			continue
		}
		switch names := used[uid]; {
		case len(names) > 0:
			for _, name := range names {
				s.Of.feed.look(ctx, name)
			}
		case there && verdict == judge.Lost:
			lost = append(lost, uid)
		default:
			gone = append(gone, uid)
		}
	}
	if many(len(gone), len(pods)) {
		gone, lost = nil, append(lost, gone...)
		ctrl.LoggerFrom(ctx).Info("many pods of the realm are in no list; Carve decides on them", "pods", len(lost), "of", len(pods))
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

// heldInCarve answers the claims in Carve that this cluster has for IPClaims.
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

// release releases what is held for IPClaims that are no more, unless somebody uses it, or a live object shows it. When they are many a person has to
// look.
func (s *Sweep) release(ctx context.Context, held []carve.IPClaim, there *inventory) error {
	var orphans, released []*carve.IPClaim
	for i := range held {
		if c := &held[i]; !there.claims[holderOf(c)] && !there.recorded[c.Metadata.UID] && !there.shows(c) {
			orphans = append(orphans, c)
		}
	}
	if many(len(orphans), len(held)) {
		ctrl.LoggerFrom(ctx).Info("many claims in Carve are of no IPClaim; they are left alone", "claims", len(orphans), "of", len(held))
		return nil
	}
	for _, c := range orphans {
		err := s.Of.giveBack(ctx, c.Metadata.Name, holderOf(c))
		if err == nil {
			released = append(released, c)
		} else if carve.CodeOf(err) != carve.ProblemCodeInUse {
			return errors.Join(err, s.cleaned(ctx, released))
		}
	}
	return s.cleaned(ctx, released)
}
