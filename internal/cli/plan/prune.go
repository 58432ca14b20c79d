package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// namedInDetail is the number of objects that a detail names. The detail only counts the rest.
const namedInDetail = 3

// pruned lists the objects that the plan with this name created and no longer contains. Inner objects come first. If an object that stays uses such
// an object, it cannot be deleted. Its action is then "differs", and the detail names its users.
func pruned(owner string, named map[string]map[string]bool, there world) []step {
	var out []step
	going := map[string]map[string]bool{}
	for _, k := range slices.Backward(kindsInOrder[1:]) {
		going[k.kind] = map[string]bool{}
		var gone []step
		for _, name := range slices.Sorted(maps.Keys(there[k.kind])) {
			is := there[k.kind][name]
			if member(member(is.doc, "metadata"), "labels")[labelOfPlan] != owner || named[k.kind][name] || k.kind == kindSpace && name == defaultSpace {
				continue
			}
			gone = append(gone, step{Action: actionToDelete, Kind: k.kind, Name: name, CIDR: is.cidr, revision: is.revision, after: -1, depth: depthOf(there[kindPool], is)})
		}
		slices.SortStableFunc(gone, func(a, b step) int { return cmp.Compare(b.depth, a.depth) })
		for i := range gone {
			if staying := there.stayingIn(k.kind, gone[i].Name, named, going); staying != nil {
				gone[i].Action, gone[i].Detail = actionDiffers, "it cannot be deleted: it is used by "+listed(staying)
				continue
			}
			going[k.kind][gone[i].Name] = true
		}
		out = append(out, gone...)
	}
	return out
}

// stayingIn lists the pools and claims that use an object and are not deleted before it. A pool of the plan does not count as a user of a class,
// because the plan also sets the classes of that pool.
func (w world) stayingIn(kind, name string, named, going map[string]map[string]bool) (out []string) {
	for _, user := range []string{kindPool, kindClaim} {
		for _, other := range slices.Sorted(maps.Keys(w[user])) {
			is := w[user][other]
			uses := kind == kindPool && is.parent == name || kind == kindSpace && is.space == name || kind == kindClass && slices.Contains(is.classes, name) && (user == kindClaim || !named[user][other])
			if uses && !going[user][other] {
				out = append(out, user+" "+other)
			}
		}
	}
	return out
}

// listed names the first objects of a list and counts the rest.
func listed(things []string) string {
	if more := len(things) - namedInDetail; more > 0 {
		return strings.Join(things[:namedInDetail], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return show.JoinComma(things)
}

// depthOf returns the number of pools above a pool in the project.
func depthOf(pools map[string]found, of found) (depth int) {
	for of.parent != "" {
		of, depth = pools[of.parent], depth+1
	}
	return depth
}
