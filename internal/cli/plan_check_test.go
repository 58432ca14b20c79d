package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The command validates the whole plan before it sends a request, because a plan that stops in the middle is worse than a plan that never starts.
func TestPlanIsValidatedAsAWholeBeforeARequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ plan, want string }{
		"HostBits":          {"pools:\n  - { name: ok, cidr: 11.0.0.0/8 }\n  - { name: a, cidr: 10.0.0.1/8 }", "-:4: pools[1].cidr has host bits set; did you mean 10.0.0.0/8?"},
		"KeyNearby":         {"pools:\n  - name: a\n    cdir: 10.0.0.0/8", "-:4: pools[0].cdir is not a key of a plan; did you mean cidr?"},
		"KeyNearNothing":    {"spaces: [{ name: s, zzzzzzzzz: 1 }]", "spaces[0].zzzzzzzzz is not a key of a plan; the keys are annotations, description, labels, name"},
		"KeyBelow":          {"pools: [{ name: a, cidr: 10.0.0.0/8, allocation: { strategi: FirstFit } }]", "pools[0].allocation.strategi is not a key of a plan; did you mean strategy?"},
		"TextForANumber":    {"pools: [{ name: a, cidr: 10.0.0.0/8, pools: [{ name: b, prefixLength: /24 }] }]", "pools[0].pools[0].prefixLength must be a whole number"},
		"NumberForAText":    {"pools: [{ name: a, cidr: 10.0.0.0/8, labels: { tier: 1 } }]", "pools[0].labels.tier must be a text: write it in quotes"},
		"MapForAList":       {"pools: { name: a }", "pools must be a list"},
		"MappedBlock":       {"pools: [{ name: a, cidr: '::ffff:10.0.0.0/104' }]", "pools[0].cidr is an IPv4-mapped IPv6 block"},
		"LongerThanIPv4":    {"pools: [{ name: a, cidr: 10.0.0.0/8, pools: [{ name: b, prefixLength: 33 }] }]", "pools[0].pools[0].prefixLength must be 8 to 32 in pool a"},
		"LargerThanParent":  {"pools: [{ name: a, cidr: 10.0.0.0/8, pools: [{ name: b, prefixLength: 12, pools: [{ name: c, prefixLength: 11 }] }] }]", "prefixLength must be 12 to 32 in pool b"},
		"OutsideOfItsPool":  {"pools: [{ name: a, cidr: 10.0.0.0/8, pools: [{ name: b, cidr: 11.0.0.0/16 }] }]", "pools[0].pools[0].cidr must be inside 10.0.0.0/8"},
		"OtherFamily":       {"pools: [{ name: a, cidr: 10.0.0.0/8, pools: [{ name: b, cidr: '2001:db8::/32' }] }]", "pools[0].pools[0].cidr must be an IPv4 block"},
		"AgainstItsPolicy":  {"pools: [{ name: a, cidr: 10.0.0.0/8, allocation: { minPrefixLength: 12 }, pools: [{ name: b, prefixLength: 10 }] }]", "prefixLength must be 12 to 32 in pool a"},
		"PolicyOfNoSense":   {"pools: [{ name: a, cidr: 10.0.0.0/16, allocation: { minPrefixLength: 12 } }]", "pools[0].allocation.minPrefixLength is 12; a pool of 10.0.0.0/16 can carve lengths 16 to 32"},
		"PolicyOfAChild":    {"pools: [{ name: a, cidr: 10.0.0.0/8, pools: [{ name: b, prefixLength: 16, allocation: { defaultPrefixLength: 12 } }] }]", "defaultPrefixLength is 12; a pool of length /16 can carve lengths 16 to 32"},
		"Strategy":          {"pools: [{ name: a, cidr: 10.0.0.0/8, allocation: { strategy: Best } }]", "pools[0].allocation.strategy must be FirstFit, BestFit, Random or Sparse"},
		"Visibility":        {"pools: [{ name: a, cidr: 10.0.0.0/8, visibility: all }]", "pools[0].visibility must be platform, consumer or shared"},
		"Duration":          {"pools: [{ name: a, cidr: 10.0.0.0/8, reuseAfter: 3d }]", `pools[0].reuseAfter "3d" is not a duration in whole hours, minutes and seconds`},
		"TooLong":           {"pools: [{ name: a, cidr: 10.0.0.0/8, reuseAfter: 9000h }]", "pools[0].reuseAfter must be whole seconds, 0s to 8760h"},
		"DurationOfAClass":  {"classes: [{ name: c, ipFamily: IPv4, reuseAfter: 500ms }]", "classes[0].reuseAfter \"500ms\" is not a duration"},
		"LengthsOfAClass":   {"classes: [{ name: c, ipFamily: IPv4, allowedPrefixLengths: { min: 24, max: 20 } }]", "classes[0].allowedPrefixLengths.min is 24, longer than max 20"},
		"FamilyOfAClass":    {"classes: [{ name: c, ipFamily: ipv4 }]", "classes[0].ipFamily must be IPv4 or IPv6"},
		"PoolPerOfAClass":   {"classes: [{ name: c, ipFamily: IPv4, poolPer: [cluster], poolPrefixLength: 20 }]", `classes[0].poolPer[0] must be "project"`},
		"ClassName":         {"pools: [{ name: a, cidr: 10.0.0.0/8, classNames: [ok, No] }]", "pools[0].classNames[1] must be a DNS label"},
		"Label":             {"spaces: [{ name: s, labels: { a/b/c: x } }]", "spaces[0].labels has a key that is not [prefix/]name"},
		"LabelOfTheProject": {"project: { name: a, labels: { tier: a b } }", "project.labels.tier must be empty or 1 to 63 characters"},
		"Region":            {"pools: [{ name: a, cidr: 10.0.0.0/8, regions: [eu, U S] }]", `pools[0].regions[1] "U S" is not the name of a region`},
		"Reservation":       {"pools: [{ name: a, cidr: 10.0.0.0/8, reservations: [{ first: 4 }, { cidr: 10.0.0.9/30 }] }]", "pools[0].reservations[1].cidr has host bits set; did you mean 10.0.0.8/30?"},
		"ReservedElsewhere": {"pools: [{ name: a, cidr: 10.0.0.0/8, reservations: [{ cidr: 11.0.0.0/30 }] }]", "pools[0].reservations[0].cidr is not inside the pool (10.0.0.0/8)"},
		"ReservedTwice":     {"pools: [{ name: a, cidr: 10.0.0.0/8, reservations: [{ first: 4, last: 4 }] }]", "pools[0].reservations[0] must have exactly one of cidr, from with to, first, last"},
		"ReservedBackwards": {"pools: [{ name: a, cidr: 10.0.0.0/8, reservations: [{ from: 10.0.0.9, to: 10.0.0.1 }] }]", "pools[0].reservations[0].to must not be before from"},
		"Overlap":           {"pools: [{ name: a, cidr: 10.0.0.0/8 }, { name: b, cidr: 10.1.0.0/16 }]", "pools[1].cidr 10.1.0.0/16 overlaps pool a (10.0.0.0/8)"},
		"ClaimOutside":      {"pools: [{ name: a, cidr: 10.0.0.0/8, claims: [{ name: c, address: 11.0.0.1 }] }]", "pools[0].claims[0].address must be inside 10.0.0.0/8"},
		"ClaimOfAFamily":    {"pools: [{ name: a, cidr: 10.0.0.0/8, pools: [{ name: b, prefixLength: 12, claims: [{ name: c, cidr: '2001:db8::/64' }] }] }]", "claims[0].cidr must be an IPv4 block"},
		"ClaimTooLarge":     {"pools: [{ name: a, cidr: 10.0.0.0/8, pools: [{ name: b, prefixLength: 12, claims: [{ name: c, prefixLength: 11 }] }] }]", "pools[0].pools[0].claims[0].prefixLength must be 12 to 32 in pool b"},
		"ClaimsOverlap":     {"pools: [{ name: a, cidr: 10.0.0.0/8, claims: [{ name: c, address: 10.0.0.7 }, { name: d, cidr: 10.0.0.0/24 }] }]", "pools[0].claims[0] has the block 10.0.0.7/32, which overlaps claim d (10.0.0.0/24)"},
		"ClaimInAPool":      {"pools: [{ name: a, cidr: 10.0.0.0/8, pools: [{ name: b, cidr: 10.1.0.0/16 }], claims: [{ name: c, address: 10.1.0.7 }] }]", "pools[0].claims[0] has the block 10.1.0.7/32, which overlaps pool b (10.1.0.0/16)"},
		"ClaimsTooMany":     {"pools: [{ name: a, cidr: 10.0.0.0/28, claims: [{ name: c, prefixLength: 29 }, { name: d, prefixLength: 29 }, { name: e, address: 10.0.0.3 }] }]", "pools[0] cannot hold its content: pool a has 16 addresses, and the pools and claims in it need 17"},
		"TopClaimOutside":   {"pools: [{ name: a, cidr: 10.0.0.0/8 }]\nclaims: [{ name: c, pool: a, address: 11.0.0.1 }]", "claims[0].address must be inside 10.0.0.0/8"},
		"TopClaimTooLarge":  {"pools: [{ name: a, cidr: 10.0.0.0/8, pools: [{ name: b, cidr: 10.0.0.0/24 }] }]\nclaims: [{ name: c, poolRef: { name: b }, prefixLength: 20 }]", "claims[0].prefixLength must be 24 to 32 in pool b"},
		"TopClaimsTooMany":  {"pools: [{ name: a, cidr: 10.0.0.0/24 }]\nclaims: [{ name: c, pool: a, prefixLength: 25 }, { name: d, pool: team-a/a, prefixLength: 25 }, { name: e, pool: a, prefixLength: 25 }]", "pools[0] cannot hold its content: pool a has 256 addresses, and the pools and claims in it need 384"},
		"TopClaimsOverlap":  {"pools: [{ name: a, cidr: 10.0.0.0/8, claims: [{ name: c, address: 10.0.0.7 }] }]\nclaims: [{ name: d, pool: a, cidr: 10.0.0.0/24 }]", "pools[0].claims[0] has the block 10.0.0.7/32, which overlaps claim d (10.0.0.0/24)"},
		"PoolsTooMany":      {"pools: [{ name: a, cidr: '2001:db8::/32', pools: [{ name: b, prefixLength: 33, allocation: { defaultPrefixLength: 34 }, claims: [{ name: c }, { name: d }, { name: e }] }] }]", "pools[0].pools[0] cannot hold its content: pool b has"},
		"JSON":              {"{\n\"pools\": [\n{\"name\": \"a\",\n\"cidr\": \"10.0.0.1/8\"}]}", "-:4: pools[0].cidr has host bits set"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := applying(t, c.plan)
			if c.plan[0] != '{' && name != "LabelOfTheProject" {
				d.in = "project: { name: team-a }\n" + c.plan
			}
			r := d.run("apply", "-f", "-")
			require.Equal(t, 2, r.code)
			require.Contains(t, r.err, c.want)
			require.Empty(t, d.requests(), "something was sent")
		})
	}
}

func TestAllErrorsOfAPlanAreReportedTogether(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plan.yaml")
	require.NoError(t, os.WriteFile(path, []byte("pools:\n- name: a\n  cidr: 10.0.0.1/8\n- name: b\n  cidr: 11.0.0.1/8\n"), 0o600))
	r := answering(t).run("apply", "-f", path)
	require.Equal(t, 2, r.code)
	require.Equal(t, "error: "+path+":3: pools[0].cidr has host bits set; did you mean 10.0.0.0/8?\n"+
		path+":5: pools[1].cidr has host bits set; did you mean 11.0.0.0/8?\nSee 'ipamctl apply --help'.\n", r.err)
}

// Pools of different spaces may overlap. A YAML anchor has the same effect as its content.
func TestValidPlanIsAccepted(t *testing.T) {
	t.Parallel()
	for name, plan := range map[string]string{
		"TwoSpaces":     "spaces: [{ name: lab }]\npools: [{ name: a, cidr: 10.0.0.0/8 }, { name: b, space: lab, cidr: 10.0.0.0/8 }]",
		"Anchors":       "pools:\n- { name: a, cidr: 10.0.0.0/8, allocation: &x { strategy: FirstFit } }\n- { name: b, cidr: 11.0.0.0/8, allocation: *x }",
		"Nothing":       "pools:\nspaces: []",
		"OwnLength":     "pools: [{ name: a, cidr: 10.0.0.0/8, pools: [{ name: b, prefixLength: 8 }] }]",
		"FullPool":      "pools: [{ name: a, cidr: 10.0.0.0/28, pools: [{ name: b, prefixLength: 29, claims: [{ name: c, address: 10.0.0.8 }] }], claims: [{ name: d, prefixLength: 30 }, { name: e }, { name: f, cidr: 10.0.0.4/30 }] }]",
		"CIDRInALength": "pools: [{ name: a, cidr: 10.0.0.0/8, pools: [{ name: b, prefixLength: 12, pools: [{ name: c, cidr: 10.16.0.0/16 }] }] }]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := applying(t, "project: { name: team-a }\n"+plan, refusal(t, "ProblemNotFound"))
			d.done("apply", "-f", "-", "--dry-run")
		})
	}
}
