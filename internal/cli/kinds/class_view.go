package kinds

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

var classCells = show.Cells[client.IPClass]{
	"name":    func(c client.IPClass) string { return c.Metadata.Project + "/" + c.Metadata.Name },
	"serves":  servedText,
	"lengths": classLengths,
	"placed": func(c client.IPClass) string {
		return show.FirstOf(string(c.Spec.Strategy), "the pool's strategy") + ", pools in order of " + string(c.Spec.PoolSelection)
	},
	"released": releasedText,
	"pools":    poolCount,
	"full":     func(c client.IPClass) string { return takenBar(c.Status.Capacity.Total, c.Status.Capacity.Available) },
	"available": func(c client.IPClass) string {
		return c.Status.Capacity.Available + " of " + c.Status.Capacity.Total + " addresses"
	},
	"pool per": poolPerText,
}

func classView() show.View {
	return show.ViewOf("class", `
		NAME: metadata.name
		PROJECT: metadata.project
		FAMILY: spec.ipFamily
		DEFAULT: spec.isDefault
		LENGTHS: lengths
		POOLS: pools
		USED: status.utilizationPercent, bar
		LARGEST: status.largestPrefixLength
		FULL: full, wide
		TOTAL: status.capacity.total, wide
		AVAILABLE: status.capacity.available, wide
		STRATEGY: spec.strategy, wide
		SELECTION: spec.poolSelection, wide
		RECLAIM: spec.reclaimPolicy, wide
		REUSE AFTER: spec.reuseAfter, wide
		POOL PER: pool per, wide
		VISIBILITY: spec.visibility, wide`+labelled, classCells)
}

// classLines are the fields that `class show` prints.
const classLines = `
	class: name
	description: spec.description
	family: spec.ipFamily
	serves: serves
	lengths: lengths
	placed by: placed
	when released: released
	pool per: pool per
	pools: pools
	full: full
	available: available
	largest: status.largestPrefixLength, or none
	parameters: spec.parameters
	labels: metadata.labels`

// isDefault reports whether a class serves the claims that name no class.
func isDefault(c client.IPClass) bool { return c.Spec.IsDefault != nil && *c.Spec.IsDefault }

// servedText describes the claims that a class serves. It mentions whether they include claims that name no class.
func servedText(c client.IPClass) string {
	text := "claims of " + c.Metadata.Project
	if c.Spec.Visibility == client.ClassVisibilityShared {
		text = "claims of every project"
	}
	if isDefault(c) {
		text += ", and claims without a class"
	}
	return text
}

func releasedText(c client.IPClass) string {
	s := c.Spec
	switch {
	case s.ReclaimPolicy == client.ReclaimPolicyRetain:
		return "kept by its allocation (Retain)"
	case s.ReuseAfter == "":
		return "free after the pool's cool-down (Delete)"
	case verbs.SameSpan(s.ReuseAfter) == "0s":
		return "free at once (Delete)"
	default:
		return "free after " + s.ReuseAfter + " (Delete)"
	}
}

// classLengths describes a class's prefix lengths in the same form as a pool's.
func classLengths(c client.IPClass) string {
	bounds := client.PoolAllocation{DefaultPrefixLength: c.Spec.DefaultPrefixLength}
	if a := c.Spec.AllowedPrefixLengths; a != nil {
		bounds.MinPrefixLength, bounds.MaxPrefixLength = a.Min, a.Max
	}
	return boundsText(&bounds)
}

// poolPerText describes the claims that share a pool, for example "project,cluster: a /20, deleted when empty for 48h".
func poolPerText(c client.IPClass) string {
	if len(c.Spec.PoolPer) == 0 {
		return ""
	}
	text := strings.Join(c.Spec.PoolPer, ",") + ": a " + show.PrefixLengthText(c.Spec.PoolPrefixLength)
	if c.Spec.EmptyPoolTTL != "" {
		text += ", deleted when empty for " + c.Spec.EmptyPoolTTL
	}
	return text
}

// poolCount counts the pools that list a class, and the pools that were carved for its scopes.
func poolCount(c client.IPClass) string {
	text := strconv.FormatInt(c.Status.BackingPools, 10)
	if c.Status.ScopedPools > 0 {
		text += " (" + strconv.FormatInt(c.Status.ScopedPools, 10) + " carved)"
	}
	return text
}

// takenBar draws the share that is not available, without rounding errors. If the total is 0, it returns "".
func takenBar(total, available string) string {
	t, okT := new(big.Int).SetString(total, 10)
	a, okA := new(big.Int).SetString(available, 10)
	if !okT || !okA || t.Sign() == 0 {
		return ""
	}
	return bar(new(big.Int).Sub(t, a).String(), total)
}
