package cli

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) quotaCommand() *cobra.Command {
	k := kind[client.Quota]{p: p, view: quotaView(), home: p.homeOf("quotas"), fields: quotaFields()}
	return group("quota", "How much the project may hold", []string{"quotas"},
		k.listVerb("Lists the quotas of the project: what is used of what is allowed; a dash is no limit. With -o wide how full they are."),
		k.getVerb(),
		quotaSet(k),
		k.deleteVerb(removal{long: "Takes quotas away. What the project holds it keeps, and what it may take is bounded by the other quotas alone."}),
	)
}

// measure is one of the things that a quota bounds.
type measure struct {
	title string
	of    func(client.Quota) (used, limit string) // limit is empty without one
}

var measures = []measure{
	{"ADDRESSES", func(q client.Quota) (used, limit string) { return q.Status.Used.Addresses, q.Spec.Limits.Addresses }},
	{"CLAIMS", func(q client.Quota) (used, limit string) {
		return strconv.FormatInt(q.Status.Used.Claims, 10), number(q.Spec.Limits.Claims)
	}},
	{"POOLS", func(q client.Quota) (used, limit string) {
		return strconv.FormatInt(q.Status.Used.Pools, 10), number(q.Spec.Limits.Pools)
	}},
}

func quotaView() view[client.Quota] {
	type T = client.Quota
	columns := []column[T]{
		{title: "NAME", cell: func(t T) string { return t.Metadata.Name }},
		{title: "COUNTS", cell: scopeText},
		{title: "OWNER", cell: func(t T) string { return string(t.Status.Owner) }},
	}
	for _, m := range measures {
		columns = append(columns,
			column[T]{title: m.title, cell: func(t T) string {
				used, limit := m.of(t)
				return used + "/" + firstOf(limit, "-")
			}},
			column[T]{title: "FULL", wide: true, cell: func(t T) string { return bar(m.of(t)) }})
	}
	columns = append(columns, column[T]{title: "DESCRIPTION", wide: true, cell: func(t T) string { return t.Spec.Description }})
	return view[T]{
		kind:    "quota",
		name:    func(t T) string { return t.Metadata.Name },
		columns: append(columns, metaColumns(func(t T) client.Metadata { return t.Metadata })...),
	}
}

// scopeText is what a quota counts: everything, or what is carved from a pool or served by a class, in one family or both.
func scopeText(q client.Quota) string {
	s := q.Spec.Scope
	if s == nil {
		return "everything"
	}
	var parts []string
	if s.PoolRef != nil {
		parts = append(parts, firstOf(s.PoolRef.Project, q.Metadata.Project)+"/"+s.PoolRef.Name)
	}
	if s.ClassRef != nil {
		parts = append(parts, "class "+firstOf(s.ClassRef.Project, q.Metadata.Project)+"/"+s.ClassRef.Name)
	}
	if s.IPFamily != "" {
		parts = append(parts, string(s.IPFamily))
	}
	return firstOf(strings.Join(parts, " "), "everything")
}

// barWidth is how many characters are a full quota.
const barWidth = 10

// bar draws how full something is: `[####......] 37%`. Over its limit it is full, and the number says by how much. The
// counts are exact, of IPv6 too. Empty without a limit.
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
		full = 1 // something is not nothing
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", barWidth-full) + "] " + percent.String() + "%"
}
