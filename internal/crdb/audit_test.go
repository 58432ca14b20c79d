package crdb_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/dbtest"
	"github.com/carve-ipam/carve/internal/ipam"
)

// estate is a database with something of everything in it, alike in both families: all that happens is in the last byte of
// the address. kid is a child pool; claim, host and inner are bound; kept is retained.
//
//	.0/32 reserved  .4/32 host  .64/28 claim  .80/28 kept  .128/26 kid (.128/28 inner, .144/28 leaf)  .240/28 reserved  free: the rest
type estate struct {
	*house
	conn   *pgx.Conn
	tables []string // those that others refer to first
}

type family struct {
	number int    // 4 or 6
	base   string // all but the last byte, in hexadecimal digits
	text   func(last, hostBits int) string
}

var families = []family{
	{4, "0a0000", func(last, hostBits int) string { return fmt.Sprintf("10.0.0.%d/%d", last, 32-hostBits) }},
	{6, "20010db8ffffffffffffffffffffff", func(last, hostBits int) string {
		return fmt.Sprintf("2001:db8:ffff:ffff:ffff:ffff:ffff:ff%02x/%d", last, 128-hostBits)
	}},
}

// at is an address of the estate as it is stored.
func (f family) at(last int) string { return fmt.Sprintf(`'\x%s%02x'`, f.base, last) }

func newEstate(t *testing.T) *estate {
	t.Helper()
	e := &estate{house: newHouse(t, dbtest.New(t))}
	_, err := e.svc.CreateSpace(admin(t), project, ipam.Space{Metadata: ipam.Metadata{Name: "lab"}}, alloc.Request{})
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
		require.NoError(t, e.svc.DeleteClaim(admin(t), project, name("kept"), alloc.Request{}))
		e.createClaim(t, claimExact(name("inner"), project, name("kid"), f.text(128, 4)))
		e.createClaim(t, claimExact(name("leaf"), project, name("kid"), f.text(144, 4)))
	}
	e.conn = connect(t, e.dsn, nil)
	e.tables = []string{"projects", "spaces", "pools", "free_blocks", "allocations", "claims", "idempotency_keys"}
	e.exec(t, "CREATE SCHEMA backup")
	for _, table := range e.tables {
		e.exec(t, "CREATE TABLE backup."+table+" AS SELECT * FROM "+table)
	}
	return e
}

func (e *estate) exec(t *testing.T, sql string) int64 {
	t.Helper()
	tag, err := e.conn.Exec(t.Context(), sql)
	require.NoError(t, err, sql)
	return tag.RowsAffected()
}

// restore undoes whatever was done to the rows.
func (e *estate) restore(t *testing.T) {
	t.Helper()
	for _, table := range slices.Backward(e.tables) {
		e.exec(t, "DELETE FROM "+table)
	}
	for _, table := range e.tables {
		e.exec(t, "INSERT INTO "+table+" SELECT * FROM backup."+table)
	}
}

// named is the invariants that an audit says are broken.
func (e *estate) named(t *testing.T) []string {
	t.Helper()
	report, err := crdb.Audit(t.Context(), e.dsn)
	require.NoError(t, err)
	found := map[string]bool{}
	for _, f := range report.Findings {
		require.NotEmpty(t, f.Container, f)
		require.NotEmpty(t, f.Detail, f)
		found[f.Invariant] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// damages breaks one thing each. The audit must name exactly these invariants: the one that the damage is about, and those that
// cannot hold without it.
func damages(f family) map[string]struct{ sql, want string } {
	n := f.number
	pool := fmt.Sprintf("(SELECT id FROM pools WHERE name = 'pool%d')", n)
	kid := fmt.Sprintf("(SELECT id FROM pools WHERE name = 'kid%d')", n)
	spaceOf := fmt.Sprintf("(SELECT container_v%d FROM spaces WHERE name = 'default')", n)
	lab := "(SELECT id FROM spaces WHERE name = 'lab')"
	free := func(container string, last, hostBits int) string {
		return fmt.Sprintf("container_id = %s AND base = %s AND host_bits = %d", container, f.at(last), hostBits)
	}
	add := func(container string, last, hostBits int) string {
		return fmt.Sprintf("INSERT INTO free_blocks (region, container_id, host_bits, base) VALUES ('local', %s, %d, %s)", container, hostBits, f.at(last))
	}
	held := func(container string, last int) string {
		return fmt.Sprintf("container_id = %s AND base = %s", container, f.at(last))
	}
	claim := func(name string) string { return fmt.Sprintf("name = '%s%d'", name, n) }
	all := func(statements ...string) string { return strings.Join(statements, ";\n") }
	const nobody = "'00000000-0000-4000-8000-000000000001'"
	return map[string]struct{ sql, want string }{
		"a free block is lost":               {"DELETE FROM free_blocks WHERE " + free(pool, 96, 5), "leaves sums tiling"},
		"a free block is elsewhere":          {"UPDATE free_blocks SET base = " + f.at(64) + " WHERE " + free(pool, 96, 5), "leaves tiling"},
		"a free block is twice as large":     {"UPDATE free_blocks SET host_bits = 6 WHERE " + free(pool, 192, 5), "leaves sums tiling"},
		"a free block is half as large":      {"UPDATE free_blocks SET host_bits = 4 WHERE " + free(pool, 32, 5), "leaves sums tiling"},
		"a block is free and held":           {add(pool, 64, 4), "leaves sums tiling"},
		"a block is free in two containers":  {add(pool, 160, 5), "leaves sums tiling"},
		"a free block is not aligned":        {"UPDATE free_blocks SET base = " + f.at(97) + " WHERE " + free(pool, 96, 5), "aligned leaves tiling"},
		"a held block is not aligned":        {all("UPDATE allocations SET base = "+f.at(81)+" WHERE "+held(pool, 80), ""), "aligned leaves tiling"},
		"two free buddies are not merged":    {all("UPDATE free_blocks SET host_bits = 4 WHERE "+free(pool, 32, 5), add(pool, 48, 4)), "maximal"},
		"the last free block is lost":        {"DELETE FROM free_blocks WHERE " + free(kid, 160, 5), "leaves sums tiling"},
		"the first block is lost":            {"DELETE FROM allocations WHERE " + held(pool, 0), "leaves reservations sums tiling"},
		"a container has no blocks at all":   {all("DELETE FROM free_blocks WHERE container_id = "+kid, "DELETE FROM allocations WHERE container_id = "+kid, "DELETE FROM claims WHERE pool_id = "+kid), "leaves sums tiling"},
		"blocks of a container that is none": {add(nobody, 0, 8), "tiling"},
		"the space has lost a block":         {"DELETE FROM free_blocks WHERE container_id = " + spaceOf + " AND host_bits = 8", "leaves sums tiling"},
		"the space has lost its half":        {fmt.Sprintf("DELETE FROM free_blocks WHERE container_id = %s AND host_bits = %d", spaceOf, map[int]int{4: 31, 6: 127}[n]), "leaves sums tiling"},
		"a space has lost everything":        {fmt.Sprintf("DELETE FROM free_blocks WHERE container_id = (SELECT container_v%d FROM spaces WHERE name = 'lab')", n), "leaves sums tiling"},
		"a held block is twice as large":     {"UPDATE allocations SET plen = plen - 1 WHERE " + held(pool, 64), "claims leaves sums tiling"},
		"an address of the other family":     {fmt.Sprintf("UPDATE free_blocks SET base = '\\x%s' WHERE %s", strings.Repeat("00", map[int]int{4: 16, 6: 4}[n]), free(pool, 96, 5)), "leaves tiling"},

		"a claim without its allocation":            {all("DELETE FROM allocations WHERE "+held(pool, 64), add(pool, 64, 4)), "claims"},
		"an allocation without its claim":           {"DELETE FROM claims WHERE " + claim("claim"), "claims"},
		"a claim says another block":                {"UPDATE claims SET base = " + f.at(65) + " WHERE " + claim("claim"), "claims"},
		"a claim says another length":               {"UPDATE claims SET plen = plen + 1 WHERE " + claim("claim"), "claims"},
		"a claim says another pool":                 {"UPDATE claims SET pool_id = " + kid + " WHERE " + claim("claim"), "claims"},
		"a claim has another name than its holder":  {"UPDATE claims SET name = 'other' WHERE " + claim("claim"), "claims"},
		"a retained allocation that a claim holds":  {"UPDATE allocations SET phase = 'Retained' WHERE " + held(pool, 64), "claims"},
		"a bound allocation that was retained":      {"UPDATE allocations SET phase = 'Bound' WHERE " + held(pool, 80), "claims"},
		"two claims hold one allocation":            {fmt.Sprintf("UPDATE claims SET allocation_id = (SELECT allocation_id FROM claims WHERE name = 'claim%d') WHERE %s", n, claim("host")), "claims"},
		"a claim of a project that is gone":         {all("UPDATE claims SET project_id = "+nobody+" WHERE "+claim("claim"), "UPDATE allocations SET holder_project_id = "+nobody+" WHERE "+held(pool, 64)), "owners"},
		"an allocation of another owner":            {all("UPDATE allocations SET project_id = "+nobody+" WHERE "+held(pool, 80), ""), "owners"},
		"an allocation that says another pool name": {"UPDATE allocations SET pool_name = 'other' WHERE " + held(pool, 80), "owners"},
		"a claimed block of another owner":          {"UPDATE allocations SET project_id = " + nobody + " WHERE " + held(pool, 64), "claims owners"},
		"a project without its default space":       {"UPDATE spaces SET name = 'other' WHERE name = 'default'", "owners"},

		"a pool that is not held where it was carved":  {all("DELETE FROM allocations WHERE "+held(pool, 128), add(pool, 128, 6)), "leaves pools"},
		"a root pool that its space does not hold":     {all("DELETE FROM allocations WHERE "+held(spaceOf, 0), add(spaceOf, 0, 8)), "leaves maximal pools"},
		"a hold for a pool that is gone":               {all("DELETE FROM free_blocks WHERE container_id = "+kid, "DELETE FROM allocations WHERE container_id = "+kid, "DELETE FROM claims WHERE pool_id = "+kid, fmt.Sprintf("DELETE FROM pools WHERE name = 'kid%d'", n)), "leaves pools"},
		"a hold in another name":                       {"UPDATE allocations SET holder_name = 'other' WHERE " + held(pool, 128), "pools"},
		"a hold for another purpose":                   {"UPDATE allocations SET purpose = 'RootPool' WHERE " + held(pool, 128), "pools"},
		"a child that is not inside its parent":        {fmt.Sprintf("UPDATE pools SET base = '\\x%s' WHERE name = 'kid%d'", strings.Repeat("ff", len(f.base)/2)+"80", n), "parents pools tiling"},
		"a child that is larger than its parent":       {fmt.Sprintf("UPDATE pools SET base = %s, plen = plen - 3 WHERE name = 'kid%d'", f.at(0), n), "parents pools sums tiling"},
		"a child in another space than its parent":     {fmt.Sprintf("UPDATE pools SET space_id = %s WHERE name = 'kid%d'", lab, n), "leaves parents"},
		"a child that says another parent":             {fmt.Sprintf("UPDATE pools SET parent_name = 'other' WHERE name = 'kid%d'", n), "parents"},
		"a root pool in another space than its blocks": {fmt.Sprintf("UPDATE pools SET space_id = %s WHERE name IN ('pool%d', 'kid%d')", lab, n, n), "leaves parents"},
		"a pool that says the other family":            {fmt.Sprintf("UPDATE pools SET af = %d WHERE name = 'kid%d'", 10-n, n), "leaves parents"},

		"a reservation that is not held":        {all("DELETE FROM allocations WHERE "+held(pool, 240), add(pool, 240, 4), ""), "maximal reservations"},
		"a reservation for another reason":      {"UPDATE allocations SET reason = 'other' WHERE " + held(pool, 240), "reservations"},
		"a reservation nobody has asked for":    {"UPDATE allocations SET purpose = 'Reservation' WHERE " + held(pool, 80), "reservations"},
		"a reservation that is not in the pool": {fmt.Sprintf(`UPDATE pools SET reservations = '[{"cidr": "192.0.2.0/24"}]' WHERE name = 'pool%d'`, n), "reservations"},
	}
}

func TestAuditNamesWhatIsDamaged(t *testing.T) {
	t.Parallel()
	for _, f := range families {
		t.Run(fmt.Sprintf("IPv%d", f.number), func(t *testing.T) {
			t.Parallel()
			e := newEstate(t)
			clean(t, e.dsn)
			seen := map[string]bool{}
			for name, d := range damages(f) {
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
			want := append(slices.Collect(maps.Keys(audit.Invariants())), "reservations")
			require.ElementsMatch(t, want, slices.Collect(maps.Keys(seen)), "each invariant has a damage that it finds")
		})
	}
}

func TestAuditOfASoundDatabaseFindsNothingAndCountsWhatItRead(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	before := dump(t, e.conn)
	report := clean(t, e.dsn)
	require.Equal(t, before, dump(t, e.conn), "and changes nothing")
	want := map[string]int64{}
	for _, table := range e.tables[:6] {
		want[table] = int64(len(before[table]))
		require.NotZero(t, want[table], table)
	}
	require.Equal(t, want, report.Checked)
}

func TestAuditOfAnEmptyDatabaseFindsNothing(t *testing.T) {
	t.Parallel()
	clean(t, dbtest.New(t))
}

func TestAuditReportsSomeOfVeryManyFindings(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	e.exec(t, "INSERT INTO free_blocks (region, container_id, host_bits, base) SELECT 'local', gen_random_uuid(), 0, '\\x00000000' FROM generate_series(1, 250)")
	report, err := crdb.Audit(t.Context(), e.dsn)
	require.NoError(t, err)
	require.Len(t, report.Findings, 101)
	require.Equal(t, "these are the first 100 of 250", report.Findings[100].Detail)
}

// One snapshot: what is being carved and released meanwhile is seen whole or not at all.
func TestAuditOfAWorkingServiceIsClean(t *testing.T) {
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
				_, err := e.svc.CreateClaim(ctx, project, claimOf(name, project, "pool4", 29+w%3), alloc.Request{})
				if err == nil {
					err = e.svc.DeleteClaim(ctx, project, name, alloc.Request{})
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
