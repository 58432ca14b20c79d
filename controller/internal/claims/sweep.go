package claims

import (
	"context"
	"errors"
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
	claims, used, err := s.claims(ctx)
	if err != nil {
		return err
	}
	if err := s.end(ctx, pods, verdicts, used); err != nil {
		return err
	}
	return s.release(ctx, held, claims)
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

// claims answers what all IPClaims are called in Carve, and which of them their pods use.
func (s *Sweep) claims(ctx context.Context) (names map[string]bool, used map[types.UID][]types.NamespacedName, err error) {
	names, used = map[string]bool{}, map[types.UID][]types.NamespacedName{}
	for more, at := true, ""; more; more = at != "" {
		var claims ipam.IPClaimList
		if err := s.Of.Live.List(ctx, &claims, client.Limit(page), client.Continue(at)); err != nil {
			return nil, nil, err
		}
		at = claims.Continue
		for i := range claims.Items {
			claim := &claims.Items[i]
			names[remoteName(claim)] = true
			for _, user := range usersOf(claim) {
				used[user.UID] = append(used[user.UID], client.ObjectKeyFromObject(claim))
			}
		}
	}
	return names, used, nil
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

// heldInCarve answers the claims in Carve that were made for IPClaims of the realm.
func (s *Sweep) heldInCarve(ctx context.Context) (held []carve.IPClaim, err error) {
	of, most := realmLabel+"="+s.Of.Realm.Name, page
	for c, err := range s.Of.Realm.Carve.Claims(ctx, s.Of.Realm.Project, carve.ListClaimsParams{LabelSelector: &of, Limit: &most}) {
		if err != nil {
			return nil, err
		}
		if owner := c.Spec.OwnerRef; owner != nil && owner.Kind == kindIPClaim && c.Metadata.Name == remotePrefix+owner.UID {
			held = append(held, c)
		}
	}
	return held, nil
}

// release releases what is held for IPClaims that are no more, unless somebody uses it. When they are many a person has to look.
func (s *Sweep) release(ctx context.Context, held []carve.IPClaim, claims map[string]bool) error {
	var orphans, released []carve.IPClaim
	for i := range held {
		if !claims[held[i].Metadata.Name] {
			orphans = append(orphans, held[i])
		}
	}
	if many(len(orphans), len(held)) {
		ctrl.LoggerFrom(ctx).Info("many claims in Carve are of no IPClaim; they are left alone", "claims", len(orphans), "of", len(held))
		return nil
	}
	for i := range orphans {
		err := s.Of.Realm.Carve.Release(ctx, s.Of.Realm.Project, orphans[i].Metadata.Name)
		if err == nil {
			released = append(released, orphans[i])
		} else if !carve.IsNotFound(err) && carve.CodeOf(err) != carve.ProblemCodeInUse {
			return errors.Join(err, s.cleaned(ctx, released))
		}
	}
	return s.cleaned(ctx, released)
}
