package acceptance_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNestedValueInOtherWordsIsNoChange spells values inside objects in ways that the server writes otherwise.
func TestNestedValueInOtherWordsIsNoChange(t *testing.T) {
	t.Parallel()
	_, project := team(t)
	config := func(reservations, six, limits, scope, owner string) string {
		return head + project + fmt.Sprintf(`resource "carve_pool" "four" {
  project      = carve_project.team.name
  name         = "four"
  cidr         = "10.0.0.0/8"
  reservations = %s
}
resource "carve_pool" "six" {
  project      = carve_project.team.name
  name         = "six"
  cidr         = "2001:db8::/48"
  reservations = %s
}
resource "carve_quota" "all" {
  project = carve_project.team.name
  name    = "all"
  limits  = %s
  scope   = %s
}
resource "carve_claim" "web" {
  project       = carve_project.team.name
  name          = "web"
  pool          = carve_pool.four.id
  prefix_length = 28
  owner_ref     = %s
}
`, reservations, six, limits, scope, owner)
	}
	server := config("[{ first = 1 }]", `[{ from = "2001:db8::10", to = "2001:db8::20" }, { cidr = "2001:db8:0:1::/64" }]`, `{ addresses = "100" }`, "null", "null")
	other := config(`[{ first = 1, reason = "" }]`, `[{ from = "2001:db8:0:0::10", to = "2001:DB8::20", reason = "" }, { cidr = "2001:DB8:0:1::/64" }]`,
		`{ addresses = "00100" }`, "{}", `{ kind = "" }`)
	f := newFolder(t, world.main, "", "")
	f.write("main.tf", other)
	f.apply()
	f.empty()
	f.agrees()
	uids := map[string]any{}
	for _, r := range f.state() {
		uids[r.address] = r.values["uid"]
	}
	for _, text := range []string{server, other} {
		f.write("main.tf", text)
		require.Contains(t, f.apply(), "0 added, ")
		f.empty()
		for _, r := range f.state() {
			require.Equal(t, uids[r.address], r.values["uid"], r.address)
		}
	}
	f.destroy()
}
