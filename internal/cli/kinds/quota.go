package kinds

import (
	"math/big"
	"strings"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func quotas(p *session.Program) verbs.Kind {
	return verbs.Kind{
		P: p, In: "quotas", Short: "Limits on the addresses, claims and pools of the project",
		View: quotaView(), Fields: quotaFields(),
		Feed:     client.ChangeKindQuota,
		ListHelp: "Lists the quotas of the project, with usage and limits; a dash is no limit. -o wide shows the used share.",
		Get:      true,
		Delete:   &verbs.Removal{Many: verbs.ByAll, Long: "Deletes quotas. The project keeps its blocks; only the other quotas limit it then."},
	}
}

func quotaView() show.View {
	type T = client.Quota
	cells := show.Cells[T]{"scope": scopeText}
	for _, what := range []string{"addresses", "claims", "pools"} {
		used, limit := show.Field[T]("status.used."+what), show.Field[T]("spec.limits."+what)
		cells[what] = func(t T) string { return used(t) + "/" + show.FirstOf(limit(t), "-") }
		cells["share of "+what] = func(t T) string { return bar(used(t), limit(t)) }
	}
	return show.ViewOf("quota", `
		NAME: metadata.name
		COUNTS: scope
		OWNER: status.owner
		ADDRESSES: addresses
		FULL: share of addresses, wide
		CLAIMS: claims
		FULL: share of claims, wide
		POOLS: pools
		FULL: share of pools, wide
		DESCRIPTION: spec.description, wide`+labelled, cells)
}

// scopeText describes a quota's scope: everything, or one pool or class, for one address family or both.
func scopeText(q client.Quota) string {
	s := q.Spec.Scope
	if s == nil {
		return "everything"
	}
	name := func(what string, ref *client.Ref) string {
		if ref == nil {
			return ""
		}
		return what + show.FirstOf(ref.Project, q.Metadata.Project) + "/" + ref.Name
	}
	return show.FirstOf(show.Words(name("", s.PoolRef), name("class ", s.ClassRef), string(s.IPFamily)), "everything")
}

// barWidth is the bar's width for a full quota.
const barWidth = 10

// bar draws a share in the form `[####......] 37%`. If the use exceeds the limit, the bar is full, and the number shows the real share. The
// calculation is exact, also for IPv6. If there is no limit, it returns "".
func bar(used, limit string) string {
	u, okU := new(big.Int).SetString(used, 10)
	l, okL := new(big.Int).SetString(limit, 10)
	if !okU || !okL {
		return ""
	}
	if l.Sign() == 0 {
		return "[" + strings.Repeat("#", barWidth) + "] of 0"
	}
	percent := new(big.Int).Div(new(big.Int).Mul(u, big.NewInt(100)), l)
	full := barWidth
	if percent.IsInt64() {
		full = int(min(percent.Int64(), 100) * barWidth / 100)
	}
	if full == 0 && u.Sign() > 0 {
		full = 1 // a small share must not look like zero
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", barWidth-full) + "] " + percent.String() + "%"
}
