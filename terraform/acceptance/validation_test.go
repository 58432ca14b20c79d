package acceptance_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInvalidAttributeIsRefusedByThePlan(t *testing.T) {
	t.Parallel()
	wrong := []struct{ kind, config, says string }{
		{"pool", `name = "x"`, "A root pool needs cidr"},
		{"pool", "name = \"x\"\ncidr = \"10.0.0.1/8\"", "the block is 10.0.0.0/8"},
		{"pool", "name = \"x\"\ncidr = \"10.0.0.0/8\"\nreservations = [{ first = 0 }]", "must be 1 to 65536"},
		{"claim", `name = "X"`, `"X" is not a name`},
		{"claim", "name = \"x\"\nprefix_length = 24.5", "prefix_length must be a whole number, not 24.5."},
		{"claim", "name = \"x\"\nmax_consumers = 1e30", "max_consumers must be a whole number of at most 64 bits, not 1e+30."},
		{"pool", "name = \"x\"\ncidr = \"10.0.0.0/8\"\nreservations = [{ last = 1.5 }]", "last must be a whole number, not 1.5."},
		{"claim", "name = \"x\"\nannotations = { \"terraform/made-by\" = \"me\" }", "set `owner` in the provider instead"},
		{"member", "subject = \"corp:me\"\nrole = \"owner\"", "must be one of viewer, consumer, provider, admin"},
		{"grant", `consumer = "b"`, "One of pool, space must be set"},
		{"class", "name = \"x\"\nip_family = \"IPv4\"\nreuse_after = \"3 days\"", "is not a duration"},
		{"class", "name = \"x\"\nip_family = \"IPv4\"\npool_per = [\"project\"]", "pool_per and pool_prefix_length go together"},
		{"quota", "name = \"x\"\nlimits = { addresses = \"many\" }", "is not a count in decimal digits"},
		{"api_key", "name = \"x\"\nrole = \"viewer\"\nexpires_at = \"tomorrow\"", "is not a time"},
		{"consumer", "uid = \"x\"\nttl_seconds = 1", "must be 10 to 604800"},
		{"alert_rule", "name = \"x\"\nabout = \"Pools\"", "One of percent, runway must be set"},
		{"alert_rule", "name = \"x\"\nabout = \"Pools\"\npercent = 80\nrunway = \"2h\"", "At most one of percent, runway can be set"},
		{"alert_rule", "name = \"x\"\nabout = \"Quotas\"\npercent = 80\nclass_name = \"c\"", "class_name is for pools"},
		{"webhook", "name = \"x\"\nurl = \"inventory.example.com\"", "is not a URL, such as https://"},
		{"webhook", "name = \"x\"\nurl = \"https://a.example.com\"\nresource_kinds = [\"Pools\"]", `must be one of IPPool, IPClaim, IPAllocation, IPClass, Quota, IPConsumer, Alert, not "Pools"`},
	}
	config := ""
	for i, c := range wrong {
		config += fmt.Sprintf("resource \"carve_%s\" \"x%d\" {\nproject = \"a\"\n%s\n}\n", c.kind, i, c.config)
	}
	config += "data \"carve_claim_explanation\" \"x\" {\nproject = \"a\"\nprefix_length = 22.5\n}\n"
	f := newFolder(t, world.main, "", config)
	said, code := f.try("plan")
	require.Equal(t, 1, code)
	require.NotContains(t, flat(said), "This is always an error in the provider")
	require.Contains(t, flat(said), "prefix_length must be a whole number, not 22.5.")
	for _, c := range wrong {
		require.Contains(t, flat(said), c.says)
	}
	for config, says := range map[string]string{
		`name = "x"`: "no project: set `project`",
		// The validation accepts both attributes, because a configuration that Terraform generates has both. The plan refuses them.
		"project = \"a\"\nname = \"x\"\npool = \"p\"\nclass = \"c\"": "At most one of class, pool, allocation",
	} {
		f.write("main.tf", head+"resource \"carve_claim\" \"x\" {\n"+config+"\n}\n")
		said, code = f.try("plan")
		require.Equal(t, 1, code)
		require.Contains(t, flat(said), says)
	}
}
