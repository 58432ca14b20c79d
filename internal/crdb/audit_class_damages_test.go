package crdb_test

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// maker adds a project for each address family, with two classes. Class plain allocates from the pool stock. Class zoned allocates from a scoped
// pool, one for each zone. Class plain has three blocks: served is bound, kept is retained, and cold cools down. Class zoned has one claim in zone a.
// Each class has a quota that counts its claims.
func (e *estate) maker(t *testing.T) {
	t.Helper()
	ctx := admin(t)
	made := func(_ any, err error) {
		t.Helper()
		require.NoError(t, err)
	}
	for _, f := range families {
		p, in := fmt.Sprint("maker", f.number), map[int]ipam.Family{4: ipam.IPv4, 6: ipam.IPv6}[f.number]
		name := func(s string) string { return fmt.Sprint(s, "-", f.number) }
		host := in.Bits()
		made(e.svc.CreateProject(ctx, ipam.Project{Metadata: ipam.Metadata{Name: p}}, usecase.Request{}))
		class := func(name string, more func(*ipam.ClassSpec)) {
			c := ipam.Class{Metadata: ipam.Metadata{Name: name}, Spec: ipam.ClassSpec{Family: in, ReuseAfter: new(time.Hour), DefaultPrefixLength: new(host - 3)}}
			more(&c.Spec)
			c.Spec = c.Spec.WithDefaults()
			made(e.svc.CreateClass(ctx, p, c, false, usecase.Request{}))
		}
		class(name("plain"), func(s *ipam.ClassSpec) { s.IsDefault = true })
		class(name("zoned"), func(s *ipam.ClassSpec) {
			s.PoolPer, s.PoolPrefixLength = []string{ipam.ScopeProject, "zone"}, new(host-5)
		})
		stock := rootPool(name("stock"), f.text(0, 8))
		stock.Spec.ClassNames = []string{name("plain"), name("zoned")}
		made(e.svc.CreatePool(ctx, p, stock, usecase.Request{}))
		made(e.svc.CreateSpace(ctx, p, ipam.Space{Metadata: ipam.Metadata{Name: name("apart")}}, usecase.Request{}))
		twin := rootPool(name("twin"), f.text(0, 6))
		twin.Spec.Space, twin.Spec.ClassNames = ipam.Ref{Project: p, Name: name("apart")}, []string{name("plain")}
		made(e.svc.CreatePool(ctx, p, twin, usecase.Request{}))
		for _, c := range []struct {
			name, class string
			policy      ipam.ReclaimPolicy
			scope       map[string]string
			end         bool
		}{
			{"served", "plain", "", nil, false}, {"kept", "plain", ipam.ReclaimRetain, nil, true},
			{"cold", "plain", "", nil, true}, {"inner", "zoned", "", map[string]string{"zone": "a"}, false},
		} {
			made(e.svc.CreateClaim(ctx, p, ipam.Claim{
				Metadata: ipam.Metadata{Name: c.name},
				Spec:     ipam.ClaimSpec{ClassName: name(c.class), ReclaimPolicy: c.policy, Scope: c.scope},
			}, usecase.Request{}))
			if c.end {
				require.NoError(t, e.svc.DeleteClaim(ctx, p, c.name, usecase.Request{}))
			}
		}
		for _, c := range []string{"plain", "zoned"} {
			made(e.svc.PutQuota(ctx, p, ipam.Quota{Metadata: ipam.Metadata{Name: c}, Spec: ipam.QuotaSpec{
				Scope:  ipam.QuotaScope{Class: ipam.Ref{Project: p, Name: name(c)}},
				Limits: ipam.QuotaLimits{Addresses: big.NewInt(1000), Claims: new(int64(100)), Pools: new(int64(10))},
			}}, usecase.Request{}))
		}
	}
}

// classDamages returns statements that damage classes, their claims, or their scoped pools.
func classDamages(f family) map[string]struct{ sql, want string } {
	n := f.number
	maker := fmt.Sprintf("(SELECT id FROM projects WHERE name = 'maker%d')", n)
	stock := fmt.Sprintf("(SELECT id FROM pools WHERE name = 'stock-%d')", n)
	class := func(name string) string { return fmt.Sprintf("(SELECT id FROM classes WHERE name = '%s-%d')", name, n) }
	ofClass := func(name, set string) string {
		return fmt.Sprintf("UPDATE classes SET %s WHERE name = '%s-%d'", set, name, n)
	}
	list := func(set string) string { return "UPDATE pools SET classes = " + set + " WHERE id = " + stock }
	held := func(name, set string) string {
		return fmt.Sprintf("UPDATE holds SET %s WHERE project_id = %s AND purpose = 'Claim' AND (name = '%s' OR doc::JSONB ->> 'h' = 'maker%d/%s')", set, maker, name, n, name)
	}
	by := func(name string) string {
		return says("c", fmt.Sprintf("maker%d/%s-%d", n, name, n)) + ", class_id = " + class(name)
	}
	scoped := func(set string) string {
		return "UPDATE pools SET " + set + " WHERE scope_class_id = " + class("zoned")
	}
	quota := func(name, set string) string {
		return "UPDATE quotas SET " + set + " WHERE name = '" + name + "' AND project_id = " + maker
	}
	const nobody = "'00000000-0000-4000-8000-000000000001'"
	const platform = "(SELECT id FROM projects WHERE name = 'platform')"
	return map[string]struct{ sql, want string }{
		"a class says another visibility":             {ofClass("plain", "visibility = 'platform'"), "classes"},
		"a class is no default and says it is":        {ofClass("plain", "is_default = false"), "classes"},
		"a class is of the other family":              {ofClass("plain", fmt.Sprintf("af = %d", 10-n)), "classes"},
		"a class of another project":                  {ofClass("plain", "project_id = "+platform), "classes"},
		"a class has another name":                    {ofClass("plain", "name = 'other'"), "classes"},
		"a class that is gone":                        {"DELETE FROM classes WHERE id = " + class("plain"), "classes"},
		"a class that lost its scopes":                {ofClass("zoned", `spec = spec - 'poolPer'`), "classes"},
		"a class whose pools may not overlap, and do": {ofClass("plain", `spec = jsonb_set(spec, '{uniqueWithin}', '"Class"')`), "parents"},
		"a class that asks for another role":          {ofClass("zoned", `spec = jsonb_set(spec, '{poolPer}', '["project", "rack"]')`), "classes"},
		"a class does not find a pool that lists it":  {"DELETE FROM pool_classes WHERE class_id = " + class("plain"), "classes"},
		"a class finds a pool that does not list it":  {list("classes - 0"), "classes"},
		"a class finds a pool by another name":        {"UPDATE pool_classes SET pool_name = 'other' WHERE class_id = " + class("plain"), "classes"},
		"a class finds a pool of another project":     {"UPDATE pool_classes SET project_id = " + platform + " WHERE class_id = " + class("plain"), "classes"},
		"a class finds a pool that is gone":           {"UPDATE pool_classes SET pool_id = " + nobody + " WHERE class_id = " + class("plain"), "classes"},
		"a pool lists a class by another name":        {list(`jsonb_set(classes, '{0,ref,name}', '"other"')`), "classes"},
		"a pool lists a class of another project":     {list(`jsonb_set(classes, '{0,ref,project}', '"platform"')`), "classes"},

		"a claim that says another class":              {held("served", by("zoned")), "quotas"},
		"a claim that says no class":                   {held("served", "class_id = NULL, doc = (doc::JSONB - 'c')::TEXT"), "quotas"},
		"a claim that says half a class":               {held("served", "class_id = NULL"), "classes"},
		"a claim that says the other half":             {held("served", "doc = (doc::JSONB - 'c')::TEXT"), "classes quotas"},
		"a claim of a class that is gone":              {held("served", "class_id = "+nobody), "classes"},
		"a claim of a class by another name":           {held("served", says("c", fmt.Sprintf("maker%d/other", n))), "classes quotas"},
		"a claim of a class by another's name":         {held("served", "class_id = "+class("zoned")), "classes"},
		"an allocation that says half a class":         {held("kept", "class_id = NULL"), "classes"},
		"a retained block that another class served":   {held("kept", by("zoned")), "quotas"},
		"a pool that a class served":                   {"UPDATE holds SET " + by("zoned") + " WHERE project_id = " + maker + " AND purpose = 'ChildPool'", "classes"},
		"a block that cools down without an end":       {held("cold", "cool_until = NULL"), "claims"},
		"a block that has an end and is bound":         {held("served", "cool_until = since"), "claims"},
		"a block that cools down and that a claim has": {held("served", "phase = 'CoolingDown', cool_until = since"), "claims fences"},
		"a reservation that cools down":                {"UPDATE holds SET phase = 'CoolingDown', cool_until = since WHERE container_id = (SELECT id FROM pools WHERE name = 'pool" + fmt.Sprint(n) + "') AND base = " + f.at(240), "claims fences"},
		"a block that cools down and counts":           {held("cold", "phase = 'Retained', cool_until = NULL"), "fences quotas"},

		"a scope's pool that says no scope":               {scoped("scope = NULL"), "classes quotas"},
		"a scope's pool that nobody finds":                {scoped("scope_class_id = NULL"), "classes quotas"},
		"a scope's pool that is found by another class":   {scoped("scope_class_id = " + class("plain")), "classes"},
		"a scope's pool that serves another project":      {scoped("scope_project_id = " + platform), "classes quotas"},
		"a scope's pool that is found by another scope":   {scoped("scope_key = 'zone=b'"), "classes"},
		"a scope's pool whose text is not its values":     {scoped(`scope_key = 'zone=b', scope = jsonb_set(scope, '{key}', '"zone=b"')`), "classes"},
		"a scope's pool that lists classes":               {scoped("classes = (SELECT t.classes FROM pools AS t WHERE t.id = " + stock + ")"), "classes"},
		"a scope's pool that was carved from a foreigner": {scoped("container_id = (SELECT id FROM pools WHERE name = 'shop-" + fmt.Sprint(n) + "')"), "classes parents pools"},
		"a scope's pool that another project claims from": {held("inner", "holder_project_id = "+platform+", "+says("h", "platform")), "classes quotas"},
		"a scope's pool that another class claims from":   {held("inner", by("plain")), "classes quotas"},
		"an empty pool that serves no scope":              {"UPDATE pools SET empty_since = created_at WHERE id = " + stock, "classes"},

		"a quota that counts another class":            {quota("plain", fmt.Sprintf("class_name = 'zoned-%d'", n)), "quotas"},
		"a quota that counts a class by another owner": {quota("zoned", "class_project = 'platform'"), "quotas"},
		"a quota that counts whatever the class":       {quota("zoned", "class_project = '', class_name = ''"), "quotas"},
	}
}
