package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// namedInDetail limits the objects that a detail names. The detail only counts the rest.
const namedInDetail = 3

// pruned lists the objects that the plan with this name created and no longer contains. Inner objects come first. If an object that stays uses such
// an object, it cannot be deleted. Its action is then "differs", and the detail names its users.
func pruned(owner string, named map[key]bool, there world) []step {
	var out []step
	going := map[key]bool{}
	for _, kind := range slices.Backward(kindsInOrder[1:]) {
		var gone []step
		for name, is := range show.Sorted(there[kind]) {
			at := key{kind, name}
			if is.Metadata.Labels[labelOfPlan] != owner || named[at] || at == (key{kindSpace, defaultSpace}) {
				continue
			}
			gone = append(gone, step{
				Action: actionToDelete, key: at, CIDR: is.Status.AllocatedCIDR, revision: is.Metadata.Revision, depth: depthOf(there[kindPool], is),
			})
		}
		slices.SortStableFunc(gone, func(a, b step) int { return cmp.Compare(b.depth, a.depth) })
		for i := range gone {
			if staying := there.stayingIn(gone[i].key, named, going); staying != nil {
				gone[i].Action, gone[i].Detail = actionDiffers, "it cannot be deleted: it is used by "+listed(staying)
				continue
			}
			going[gone[i].key] = true
		}
		out = append(out, gone...)
	}
	return out
}

// stayingIn lists the pools and claims that use an object and are not deleted before it. A pool in the plan does not count as a class's user, because
// the plan also sets that pool's classes.
func (w world) stayingIn(used key, named, going map[key]bool) (out []string) {
	for _, user := range []string{kindPool, kindClaim} {
		for other, is := range show.Sorted(w[user]) {
			at, uses := key{user, other}, false
			switch used.Kind {
			case kindPool:
				uses = is.parent == used.Name
			case kindSpace:
				uses = is.space == used.Name
			case kindClass:
				uses = slices.Contains(is.classes, used.Name) && (user == kindClaim || !named[at])
			}
			if uses && !going[at] {
				out = append(out, user+" "+other)
			}
		}
	}
	return out
}

// listed names the first objects and counts the rest.
func listed(names []string) string {
	if more := len(names) - namedInDetail; more > 0 {
		return strings.Join(names[:namedInDetail], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return show.JoinComma(names)
}

// depthOf counts the pools above a pool in the project.
func depthOf(pools map[string]found, of found) (depth int) {
	for of.parent != "" {
		of, depth = pools[of.parent], depth+1
	}
	return depth
}
