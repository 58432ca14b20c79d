package crdb_test

import (
	"fmt"
	"strings"
)

// damages returns statements that each break one invariant. want lists all invariants that the audit must then report: the broken invariant, and the
// invariants that depend on it.
func damages(f family) map[string]struct{ sql, want string } {
	n := f.number
	pool := fmt.Sprintf("(SELECT id FROM pools WHERE name = 'pool%d')", n)
	kid := fmt.Sprintf("(SELECT id FROM pools WHERE name = 'kid%d')", n)
	const platform = "(SELECT id FROM projects WHERE name = 'platform')"
	spaceOf := fmt.Sprintf("(SELECT container_v%d FROM spaces WHERE name = 'default' AND project_id = %s)", n, platform)
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
		"a free block is lost":               {"DELETE FROM free_blocks WHERE " + free(pool, 96, 5), "fences leaves sums tiling"},
		"a free block is elsewhere":          {"UPDATE free_blocks SET base = " + f.at(64) + " WHERE " + free(pool, 96, 5), "leaves tiling"},
		"a free block is twice as large":     {"UPDATE free_blocks SET host_bits = 6 WHERE " + free(pool, 192, 5), "fences leaves sums tiling"},
		"a free block is half as large":      {"UPDATE free_blocks SET host_bits = 4 WHERE " + free(pool, 32, 5), "fences leaves sums tiling"},
		"a block is free and held":           {add(pool, 64, 4), "fences leaves sums tiling"},
		"a block is free in two containers":  {add(pool, 160, 5), "fences leaves sums tiling"},
		"a free block is not aligned":        {"UPDATE free_blocks SET base = " + f.at(97) + " WHERE " + free(pool, 96, 5), "aligned leaves tiling"},
		"a held block is not aligned":        {all("UPDATE holds SET base = "+f.at(81)+" WHERE "+held(pool, 80), ""), "aligned leaves tiling"},
		"two free buddies are not merged":    {all("UPDATE free_blocks SET host_bits = 4 WHERE "+free(pool, 32, 5), add(pool, 48, 4)), "fences maximal"},
		"the last free block is lost":        {"DELETE FROM free_blocks WHERE " + free(kid, 160, 5), "fences leaves sums tiling"},
		"the first block is lost":            {"DELETE FROM holds WHERE " + held(pool, 0), "leaves reservations sums tiling"},
		"a container has no blocks at all":   {all("DELETE FROM free_blocks WHERE container_id = "+kid, "DELETE FROM holds WHERE container_id = "+kid), "fences leaves sums tiling"},
		"blocks of a container that is none": {add(nobody, 0, 8), "tiling"},
		"the space has lost a block":         {"DELETE FROM free_blocks WHERE container_id = " + spaceOf + " AND host_bits = 8", "fences leaves sums tiling"},
		"the space has lost its half":        {fmt.Sprintf("DELETE FROM free_blocks WHERE container_id = %s AND host_bits = %d", spaceOf, map[int]int{4: 31, 6: 127}[n]), "fences leaves sums tiling"},
		"a space has lost everything":        {fmt.Sprintf("DELETE FROM free_blocks WHERE container_id = (SELECT container_v%d FROM spaces WHERE name = 'lab')", n), "fences leaves sums tiling"},
		"a held block is twice as large":     {"UPDATE holds SET plen = plen - 1 WHERE " + held(pool, 64), "leaves sums tiling"},
		"an address of the other family":     {fmt.Sprintf("UPDATE free_blocks SET base = '\\x%s' WHERE %s", strings.Repeat("00", map[int]int{4: 16, 6: 4}[n]), free(pool, 96, 5)), "fences leaves tiling"},

		"a fence counts a block more":     {`UPDATE fences SET stock = '\x010118030119' WHERE id = ` + pool, "fences"},
		"a fence forgets what cools down": {fmt.Sprintf("UPDATE fences SET stock = '\\x0100' WHERE id = (SELECT id FROM pools WHERE name = 'shop-%d')", n), "fences"},
		"a fence that cannot be read":     {`UPDATE fences SET stock = '\x00' WHERE id = ` + pool, "fences"},
		"a pool without a fence":          {"DELETE FROM fences WHERE id = " + kid, "fences"},
		"a space without a fence":         {"DELETE FROM fences WHERE id = " + spaceOf, "fences"},
		"a fence of nothing":              {`INSERT INTO fences VALUES ('local', ` + nobody + `, gen_random_uuid(), '\x0100')`, "fences"},

		"a claim's block that no claim has":         {"UPDATE holds SET name = NULL, claim_id = NULL WHERE " + held(pool, 64), "claims"},
		"a claim without an id":                     {"UPDATE holds SET claim_id = NULL WHERE " + held(pool, 64), "claims"},
		"a claim without a name":                    {"UPDATE holds SET name = NULL WHERE " + held(pool, 64), "claims"},
		"a retained allocation that a claim holds":  {"UPDATE holds SET phase = 'Retained' WHERE " + held(pool, 64), "claims"},
		"a bound allocation that was retained":      {"UPDATE holds SET phase = 'Bound' WHERE " + held(pool, 80), "claims"},
		"two blocks of one claim":                   {fmt.Sprintf("UPDATE holds SET claim_id = (SELECT claim_id FROM holds WHERE name = 'claim%d') WHERE %s", n, claim("host")), "claims"},
		"a claim of a project that is gone":         {"UPDATE holds SET holder_project_id = " + nobody + " WHERE " + held(pool, 64), "owners"},
		"an allocation of another owner":            {all("UPDATE holds SET project_id = "+nobody+" WHERE "+held(pool, 80), ""), "owners"},
		"an allocation that says another pool name": {"UPDATE holds SET " + says("p", "platform/other") + " WHERE " + held(pool, 80), "owners"},
		"a claimed block of another owner":          {"UPDATE holds SET project_id = " + nobody + " WHERE " + held(pool, 64), "owners"},
		"a project without its default space":       {"UPDATE spaces SET name = 'other' WHERE name = 'default' AND project_id = " + platform, "owners"},

		"a pool that is not held where it was carved":  {all("DELETE FROM holds WHERE "+held(pool, 128), add(pool, 128, 6)), "fences leaves pools"},
		"a root pool that its space does not hold":     {all("DELETE FROM holds WHERE "+held(spaceOf, 0), add(spaceOf, 0, 8)), "fences leaves maximal pools"},
		"a hold for a pool that is gone":               {all("DELETE FROM free_blocks WHERE container_id = "+kid, "DELETE FROM holds WHERE container_id = "+kid, fmt.Sprintf("DELETE FROM pools WHERE name = 'kid%d'", n)), "fences leaves pools"},
		"a hold in another name":                       {"UPDATE holds SET " + says("h", "platform/other") + " WHERE " + held(pool, 128), "pools"},
		"a hold for another purpose":                   {"UPDATE holds SET purpose = 'RootPool' WHERE " + held(pool, 128), "pools"},
		"a child that is not inside its parent":        {fmt.Sprintf("UPDATE pools SET base = '\\x%s' WHERE name = 'kid%d'", strings.Repeat("ff", len(f.base)/2)+"80", n), "parents pools tiling"},
		"a child that is larger than its parent":       {fmt.Sprintf("UPDATE pools SET base = %s, plen = plen - 3 WHERE name = 'kid%d'", f.at(0), n), "parents pools sums tiling"},
		"a child in another space than its parent":     {fmt.Sprintf("UPDATE pools SET space_id = %s WHERE name = 'kid%d'", lab, n), "leaves parents"},
		"a child that says another parent":             {fmt.Sprintf("UPDATE pools SET parent_name = 'other' WHERE name = 'kid%d'", n), "parents"},
		"a root pool in another space than its blocks": {fmt.Sprintf("UPDATE pools SET space_id = %s WHERE name IN ('pool%d', 'kid%d')", lab, n, n), "leaves parents"},
		"a pool that says the other family":            {fmt.Sprintf("UPDATE pools SET af = %d WHERE name = 'kid%d'", 10-n, n), "leaves parents"},

		"a reservation that is not held":        {all("DELETE FROM holds WHERE "+held(pool, 240), add(pool, 240, 4), ""), "fences maximal reservations"},
		"a reservation for another reason":      {"UPDATE holds SET " + says("y", "other") + " WHERE " + held(pool, 240), "reservations"},
		"a reservation nobody has asked for":    {"UPDATE holds SET purpose = 'Reservation' WHERE " + held(pool, 80), "claims reservations"},
		"a reservation that is not in the pool": {fmt.Sprintf(`UPDATE pools SET reservations = '[{"cidr": "192.0.2.0/24"}]' WHERE name = 'pool%d'`, n), "reservations"},
	}
}

// says returns an SQL assignment that sets a key in the document of a row in holds.
func says(key, value string) string {
	return fmt.Sprintf(`doc = jsonb_set(doc::JSONB, '{%s}', '"%s"')::TEXT`, key, value)
}
