package kinds

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func quotaCommand(p *session.Program) *cobra.Command {
	k := verbs.Kind[client.Quota]{
		P: p, View: quotaView(), Home: verbs.HomeOf(p, "quotas"), Fields: quotaFields(),
		Fed: &verbs.Fed[client.Quota]{Kind: client.ChangeKindQuota},
	}
	return verbs.Group("quota", "Limits on the addresses, claims and pools of the project", []string{"quotas"},
		k.ListVerb("Lists the quotas of the project, with usage and limits; a dash is no limit. -o wide shows the used share."),
		k.GetVerb(),
		quotaSet(k),
		k.DeleteVerb(verbs.Removal{Many: verbs.ByAll, Long: "Deletes quotas. The project keeps its blocks; only the other quotas limit it then."}),
	)
}

// measure is one of the quantities that a quota limits.
type measure struct {
	title string
	of    func(client.Quota) (used, limit string) // limit is "" if the quota has no limit
}

var measures = []measure{
	{"ADDRESSES", func(q client.Quota) (used, limit string) { return q.Status.Used.Addresses, q.Spec.Limits.Addresses }},
	{"CLAIMS", func(q client.Quota) (used, limit string) {
		return strconv.FormatInt(q.Status.Used.Claims, 10), show.Number(q.Spec.Limits.Claims)
	}},
	{"POOLS", func(q client.Quota) (used, limit string) {
		return strconv.FormatInt(q.Status.Used.Pools, 10), show.Number(q.Spec.Limits.Pools)
	}},
}

func quotaView() show.View[client.Quota] {
	type T = client.Quota
	columns := []show.Column[T]{
		{Title: "NAME", Cell: func(t T) string { return t.Metadata.Name }},
		{Title: "COUNTS", Cell: scopeText},
		{Title: "OWNER", Cell: func(t T) string { return string(t.Status.Owner) }},
	}
	for _, m := range measures {
		columns = append(columns,
			show.Column[T]{Title: m.title, Cell: func(t T) string {
				used, limit := m.of(t)
				return used + "/" + show.FirstOf(limit, "-")
			}},
			show.Column[T]{Title: "FULL", Wide: true, Cell: func(t T) string { return bar(m.of(t)) }})
	}
	columns = append(columns, show.Column[T]{Title: "DESCRIPTION", Wide: true, Cell: func(t T) string { return t.Spec.Description }})
	return show.View[T]{
		Kind:    "quota",
		Name:    func(t T) string { return t.Metadata.Name },
		Columns: append(columns, metaColumns(func(t T) client.Metadata { return t.Metadata })...),
	}
}

// scopeText describes the scope of a quota. The scope is everything, or one pool or class. It covers one address family or both.
func scopeText(q client.Quota) string {
	s := q.Spec.Scope
	if s == nil {
		return "everything"
	}
	var parts []string
	if s.PoolRef != nil {
		parts = append(parts, show.FirstOf(s.PoolRef.Project, q.Metadata.Project)+"/"+s.PoolRef.Name)
	}
	if s.ClassRef != nil {
		parts = append(parts, "class "+show.FirstOf(s.ClassRef.Project, q.Metadata.Project)+"/"+s.ClassRef.Name)
	}
	if s.IPFamily != "" {
		parts = append(parts, string(s.IPFamily))
	}
	return show.FirstOf(strings.Join(parts, " "), "everything")
}

// barWidth is the width of the bar for a full quota.
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
	tenths := new(big.Int).Div(new(big.Int).Mul(u, big.NewInt(barWidth)), l)
	percent := new(big.Int).Div(new(big.Int).Mul(u, big.NewInt(100)), l)
	full := barWidth
	if tenths.IsInt64() {
		full = int(min(tenths.Int64(), barWidth))
	}
	if full == 0 && u.Sign() > 0 {
		full = 1 // a small share must not look like zero
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", barWidth-full) + "] " + percent.String() + "%"
}
