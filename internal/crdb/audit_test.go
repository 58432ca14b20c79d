package crdb_test

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/alloc/utilization"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// estate is a database with an example of every kind of object. It has the same objects for IPv4 and IPv6. All blocks differ in the last byte of the
// address. kid is a child pool. The claims claim, host and inner are bound, and kept is retained.
//
// .0/32 reserved .4/32 host .64/28 claim .80/28 kept .128/26 kid (.128/28 inner, .144/28 leaf) .240/28 reserved free: the rest
type estate struct {
	*house
	conn   *pgx.Conn
	tables []string // each table comes before the tables that refer to it
}

type family struct {
	number int    // 4 or 6
	base   string // all bytes except the last, in hexadecimal digits
	text   func(last, hostBits int) string
}

var families = []family{
	{4, "0a0000", func(last, hostBits int) string { return fmt.Sprintf("10.0.0.%d/%d", last, 32-hostBits) }},
	{6, "20010db8ffffffffffffffffffffff", func(last, hostBits int) string {
		return fmt.Sprintf("2001:db8:ffff:ffff:ffff:ffff:ffff:ff%02x/%d", last, 128-hostBits)
	}},
}

// at returns an address of the estate in its stored form, as SQL.
func (f family) at(last int) string { return fmt.Sprintf(`'\x%s%02x'`, f.base, last) }

func newEstate(t *testing.T) *estate {
	t.Helper()
	e := &estate{house: newHouse(t, dbtest.New(t))}
	_, err := e.svc.CreateSpace(admin(t), project, ipam.Space{Metadata: ipam.Metadata{Name: "lab"}}, usecase.Request{})
	require.NoError(t, err)
	for _, f := range families {
		name := func(s string) string { return fmt.Sprint(s, f.number) }
		e.createPool(t, rootPool(name("pool"), f.text(0, 8), ipam.Reservation{First: 1, Reason: "network"}, ipam.Reservation{CIDR: cidr(f.text(240, 4)), Reason: "later"}))
		e.createPool(t, childPool(name("kid"), project, name("pool"), 0, f.text(128, 6)))
		e.createClaim(t, claimExact(name("host"), project, name("pool"), f.text(4, 0)))
		e.createClaim(t, claimExact(name("claim"), project, name("pool"), f.text(64, 4)))
		kept := claimExact(name("kept"), project, name("pool"), f.text(80, 4))
		kept.Spec.ReclaimPolicy = ipam.ReclaimRetain
		e.createClaim(t, kept)
		require.NoError(t, e.svc.DeleteClaim(admin(t), project, name("kept"), usecase.Request{}))
		e.createClaim(t, claimExact(name("inner"), project, name("kid"), f.text(128, 4)))
		e.createClaim(t, claimExact(name("leaf"), project, name("kid"), f.text(144, 4)))
	}
	e.tenant(t)
	_, err = utilization.NewRecorder(e.store, time.Hour, e.store.Now).Record(admin(t))
	require.NoError(t, err)
	e.maker(t)
	e.conn = dbtest.Connect(t, e.dsn, nil)
	e.exec(t, "SET default_transaction_isolation = 'read committed'") // the damaging statements need no isolation, and must not wait for the server's transactions
	e.tables = []string{
		"projects", "spaces", "classes", "pools", "pool_classes", "fences", "free_blocks", "holds",
		"members", "api_keys", "grants", "quotas", "quota_shards", "audit_events", "history", "removals",
		"consumers", "attachments", "realms", "webhooks", "deliveries", "alert_rules", "alerts", "utilization", "idempotency_keys",
	}
	for _, table := range []string{"members", "api_keys", "quotas"} { // without the constraint, the test can add rows in which the audit must find errors
		e.exec(t, "ALTER TABLE "+table+" DROP CONSTRAINT "+table+"_project_fkey")
	}
	for _, one := range []string{"pool_classes pool_classes_class", "pool_classes pool_classes_pool", "pools pools_scope_class"} {
		table, key, _ := strings.Cut(one, " ")
		e.exec(t, "ALTER TABLE "+table+" DROP CONSTRAINT "+key+"_fkey")
	}
	for _, check := range []string{"phases", "claim"} {
		e.exec(t, "ALTER TABLE holds DROP CONSTRAINT holds_"+check+"_check")
	}
	e.exec(t, "CREATE SCHEMA backup")
	for _, table := range e.tables {
		e.exec(t, "CREATE TABLE backup."+table+" AS SELECT * FROM "+table)
	}
	return e
}

// tenant adds a project with pools for each address family. The project has a member, an API key, grants, and quotas. The quotas count two claims,
// one retained block and two pools. The block of the claim "again" had two earlier holders. tenant also creates and deletes a third project.
func (e *estate) tenant(t *testing.T) {
	t.Helper()
	ctx := admin(t)
	made := func(_ any, err error) {
		t.Helper()
		require.NoError(t, err)
	}
	for _, f := range families {
		p := fmt.Sprint("tenant", f.number)
		made(e.svc.CreateProject(ctx, ipam.Project{Metadata: ipam.Metadata{Name: p}}, usecase.Request{}))
		made(e.svc.PutMember(ctx, p, ipam.Member{Metadata: ipam.Metadata{Name: "corp:alice"}, Spec: ipam.MemberSpec{Role: "admin"}}, usecase.Request{}))
		made(e.svc.CreateKey(ctx, p, ipam.APIKey{Metadata: ipam.Metadata{Name: "robot"}, Spec: ipam.APIKeySpec{Role: "consumer"}}, usecase.Request{}))
		made(e.svc.ConfirmExpiry(ctx, p, ipam.DefaultRealm, usecase.Request{}))
		quota := func(name string, scope ipam.QuotaScope, limits ipam.QuotaLimits) {
			made(e.svc.PutQuota(ctx, p, ipam.Quota{Metadata: ipam.Metadata{Name: name}, Spec: ipam.QuotaSpec{Scope: scope, Limits: limits}}, usecase.Request{}))
		}
		quota("all", ipam.QuotaScope{}, ipam.QuotaLimits{Addresses: big.NewInt(1000), Claims: new(int64(100)), Pools: new(int64(2))})
		name := func(s string) string { return fmt.Sprint(s, "-", f.number) }
		pool := rootPool(name("shop"), f.text(0, 8))
		pool.Spec.Visibility = ipam.VisibilityShared
		made(e.svc.CreatePool(ctx, p, pool, usecase.Request{}))
		made(e.svc.CreatePool(ctx, p, childPool(name("shelf"), p, name("shop"), 0, f.text(128, 6)), usecase.Request{}))
		made(e.svc.PutPoolGrant(ctx, p, name("shop"), ipam.Everybody, usecase.Request{}))
		made(e.svc.PutSpaceGrant(ctx, p, ipam.DefaultSpace, "somebody", usecase.Request{}))
		for _, c := range []struct {
			name   string
			policy ipam.ReclaimPolicy
			keep   bool
		}{
			{"once", ipam.ReclaimDelete, false}, {"twice", ipam.ReclaimDelete, false}, {"again", ipam.ReclaimDelete, true},
			{"left", ipam.ReclaimRetain, false}, {"other", ipam.ReclaimDelete, true},
		} {
			block := f.text(16, 3)
			switch c.name {
			case "left":
				block = f.text(32, 3)
			case "other":
				block = f.text(48, 3)
			}
			claim := claimExact(c.name, p, name("shop"), block)
			claim.Spec.ReclaimPolicy = c.policy
			made(e.svc.CreateClaim(ctx, p, claim, usecase.Request{}))
			if !c.keep {
				require.NoError(t, e.svc.DeleteClaim(ctx, p, c.name, usecase.Request{}))
			}
		}
		made(e.svc.AttachConsumer(ctx, p, "again", consumer("vm"), usecase.Request{}))
		made(e.svc.EndConsumer(ctx, p, consumer("gone").Ref, usecase.Request{}))
		withDelivery(t, e.house, p)
		withAlert(t, e.house, p)
		quota("some", ipam.QuotaScope{Pool: ipam.Ref{Project: p, Name: name("shop")}, Family: map[int]ipam.Family{4: ipam.IPv4, 6: ipam.IPv6}[f.number]},
			ipam.QuotaLimits{Claims: new(int64(1))}) // less than the usage
		quota("none", ipam.QuotaScope{Pool: ipam.Ref{Project: "elsewhere", Name: "nowhere"}}, ipam.QuotaLimits{Addresses: big.NewInt(5)})
	}
	made(e.svc.CreateProject(ctx, ipam.Project{Metadata: ipam.Metadata{Name: "gone"}}, usecase.Request{}))
	made(e.svc.PutMember(ctx, "gone", ipam.Member{Metadata: ipam.Metadata{Name: "corp:bob"}, Spec: ipam.MemberSpec{Role: "admin"}}, usecase.Request{}))
	require.NoError(t, e.svc.DeleteProject(ctx, "gone", usecase.Request{}))
}

func (e *estate) exec(t *testing.T, sql string) int64 {
	t.Helper()
	tag, err := e.conn.Exec(t.Context(), sql)
	require.NoError(t, err, sql)
	return tag.RowsAffected()
}

// restore undoes all changes to rows.
func (e *estate) restore(t *testing.T) {
	t.Helper()
	for _, table := range slices.Backward(e.tables) {
		e.exec(t, "DELETE FROM "+table)
	}
	for _, table := range e.tables {
		e.exec(t, "INSERT INTO "+table+" SELECT * FROM backup."+table)
	}
}

// named returns the names of the broken invariants that an audit reports.
func (e *estate) named(t *testing.T) []string {
	t.Helper()
	report, err := audit.Run(t.Context(), e.dsn)
	require.NoError(t, err)
	found := map[string]bool{}
	for _, f := range report.Findings {
		require.NotEmpty(t, f.Container, f)
		require.NotEmpty(t, f.Detail, f)
		found[f.Invariant] = true
	}
	return slices.Sorted(maps.Keys(found))
}

func TestAuditReportsDamage(t *testing.T) {
	t.Parallel()
	for _, f := range families {
		t.Run(fmt.Sprintf("IPv%d", f.number), func(t *testing.T) {
			t.Parallel()
			e := newEstate(t)
			clean(t, e.dsn)
			seen := map[string]bool{}
			all := damages(f)
			maps.Copy(all, tenantDamages(f))
			maps.Copy(all, classDamages(f))
			for name, d := range all {
				touched := int64(0)
				for statement := range strings.SplitSeq(d.sql, ";\n") {
					if statement != "" {
						rows := e.exec(t, statement)
						require.Positive(t, rows, "%s: it must damage something: %s", name, statement)
						touched += rows
					}
				}
				require.Positive(t, touched, name)
				got := e.named(t)
				assert.Equal(t, d.want, strings.Join(got, " "), name)
				for _, invariant := range got {
					seen[invariant] = true
				}
				e.restore(t)
			}
			clean(t, e.dsn)
			var want []string
			for _, invariant := range audit.Invariants() {
				if !slices.Contains(betweenRegions, invariant.Name) {
					want = append(want, invariant.Name)
				}
			}
			require.ElementsMatch(t, want, slices.Collect(maps.Keys(seen)), "each invariant has a damage that it finds")
		})
	}
}

func TestAuditOfASoundDatabaseFindsNothingAndCountsRows(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	before := dbtest.Dump(t, e.conn)
	report := clean(t, e.dsn)
	require.Equal(t, before, dbtest.Dump(t, e.conn), "and changes nothing")
	want := map[string]int64{}
	for _, table := range e.tables[:len(e.tables)-1] {
		want[table] = int64(len(before[table]))
		require.NotZero(t, want[table], table)
	}
	for _, table := range []string{"pool_regions", "region_blocks", "stocks", "project_regions"} { // tables for several regions: see audit_region_damages_test.go
		want[table] = int64(len(before[table]))
	}
	require.Equal(t, want, report.Checked)
}

func TestAuditOfAnEmptyDatabaseFindsNothing(t *testing.T) {
	t.Parallel()
	clean(t, dbtest.New(t))
}

func TestAuditLimitsTheReportedFindings(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	e.exec(t, "INSERT INTO free_blocks (region, container_id, host_bits, base) SELECT 'local', gen_random_uuid(), 0, '\\x00000000' FROM generate_series(1, 250)")
	report, err := audit.Run(t.Context(), e.dsn)
	require.NoError(t, err)
	require.Len(t, report.Findings, 101)
	require.Equal(t, "only the first 100 of 250 findings are shown", report.Findings[100].Detail)
}

// An audit reads one snapshot of the database. So it sees each concurrent transaction completely or not at all.
func TestAuditDuringConcurrentClaimsIsClean(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	ctx := admin(t)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				name := fmt.Sprintf("busy-%d-%d", w, i)
				_, err := e.svc.CreateClaim(ctx, project, claimOf(name, project, "pool4", 29+w%3), usecase.Request{})
				if err == nil {
					err = e.svc.DeleteClaim(ctx, project, name, usecase.Request{})
				}
				if err != nil && !ipam.IsCode(err, ipam.CodePoolExhausted) {
					t.Errorf("%s: %v", name, err)
					return
				}
			}
		})
	}
	for range 10 {
		clean(t, e.dsn)
	}
	close(stop)
	wg.Wait()
	clean(t, e.dsn)
}
