package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestContradictoryFlagsAreRefusedBeforeARequest(t *testing.T) {
	t.Parallel()
	twoDocuments := filepath.Join(t.TempDir(), "two.yaml")
	require.NoError(t, os.WriteFile(twoDocuments, []byte("claims: []\n---\nclaims: []\n"), 0o600))
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"NoSuchVerb":             {[]string{"bogus"}, `ipamctl has no verb "bogus"`},
		"NearVerb":               {[]string{"pool", "crate"}, "did you mean create?"},
		"NoVerb":                 {[]string{"pool"}, "ipamctl pool needs a verb"},
		"NoSuchFlag":             {[]string{"pool", "list", "--colour"}, "unknown flag: --colour"},
		"NoSuchFormat":           {[]string{"pool", "list", "-o", "xml"}, "must be one of table, wide, json, yaml, name"},
		"NotAServer":             {[]string{"pool", "list", "--server", "localhost:8080"}, "the server must be a URL"},
		"NoTime":                 {[]string{"pool", "list", "--timeout", "0s"}, "--timeout must be more than 0"},
		"PathAsName":             {[]string{"pool", "delete", ".."}, `".." is not the name of a pool`},
		"EmptyName":              {[]string{"pool", "get", ""}, `"" is not the name of a pool`},
		"PathAsProject":          {[]string{"pool", "list", "-p", "a/../b"}, `"a/../b" is not the name of a project`},
		"PathAsAllocation":       {[]string{"claim", "create", "a", "--allocation", "../x"}, "--allocation must be the name of an allocation"},
		"NoName":                 {[]string{"claim", "create", "--pool", "p"}, "the claim needs a name (or --generate-name)"},
		"TwoNames":               {[]string{"claim", "create", "a", "--generate-name", "a-", "--pool", "p"}, "not both"},
		"TooManyNames":           {[]string{"claim", "create", "a", "b", "--pool", "p"}, "takes one argument at most, not 2"},
		"NoNames":                {[]string{"claim", "delete"}, "needs the name of a claim"},
		"ListOfANamedThing":      {[]string{"claim", "list", "a"}, "takes no arguments, not 1"},
		"TwoSources":             {[]string{"claim", "create", "a", "--pool", "p", "-l", "a=b"}, "use one of --class, --pool, --selector and --allocation"},
		"ClassAndPool":           {[]string{"claim", "explain", "--pool", "p", "--class", "c"}, "use one of --class, --pool, --selector and --allocation"},
		"ScopeOfAPool":           {[]string{"claim", "create", "a", "--pool", "p", "--scope", "a=b"}, "--scope works with classes only"},
		"ForeignClass":           {[]string{"claim", "create", "a", "--class", "platform/standard"}, `"platform/standard" is not the name of a class`},
		"NameToExplain":          {[]string{"claim", "explain", "a"}, "takes no arguments, not 1"},
		"ClassOfNoFamily":        {[]string{"class", "create", "a"}, "a class needs an address family"},
		"PoolPerOfNoProject":     {[]string{"class", "create", "a", "--family", "4", "--pool-per", "cluster", "--pool-length", "20"}, "--pool-per must start with project"},
		"PoolPerOfNoLength":      {[]string{"class", "create", "a", "--family", "4", "--pool-per", "project"}, "--pool-per needs --pool-prefix-length"},
		"PoolPerTwice":           {[]string{"class", "create", "a", "--family", "4", "--pool-per", "project,a,a", "--pool-length", "20"}, `"a" is not a role, or is given twice`},
		"PoolLengthOfNothing":    {[]string{"class", "create", "a", "--family", "4", "--pool-length", "20"}, "--pool-prefix-length needs --pool-per"},
		"EmptyPoolsOfNothing":    {[]string{"class", "create", "a", "--family", "4", "--empty-pool-ttl", "1h"}, "--empty-pool-ttl needs --pool-per"},
		"MoveOfNothing":          {[]string{"class", "set", "a", "--move-default"}, "--move-default needs --default"},
		"NothingToSetOfAClaim":   {[]string{"claim", "set", "a", "--if-match", "x"}, "nothing to set: 'ipamctl claim set --help'"},
		"PolicyOfAClaim":         {[]string{"claim", "set", "a", "--reclaim-policy", "keep"}, "must be one of Delete, Retain, none"},
		"ProjectOfAProject":      {[]string{"project", "get", "a/b"}, `"a/b" is not the name of a project`},
		"NothingToSet":           {[]string{"class", "set", "a"}, "nothing to set: 'ipamctl class set --help'"},
		"NothingToSetOfAPool":    {[]string{"pool", "set", "a", "--dry-run"}, "nothing to set"},
		"NoneOfANewClass":        {[]string{"class", "create", "a", "--family", "4", "--strategy", "none"}, "must be one of BestFit"},
		"HalfASecond":            {[]string{"class", "set", "a", "--reuse-after", "500ms"}, "must be whole seconds"},
		"TwoYears":               {[]string{"pool", "set", "a", "--reuse-after", "730d"}, "a year (8760h) at most"},
		"NoDuration":             {[]string{"pool", "create", "a", "--cidr", "10.0.0.0/8", "--reuse-after", "soon"}, "must be a duration like 10m, 72h or 3d"},
		"LabelToChange":          {[]string{"class", "set", "a", "--label", "tier"}, "must be key=value, or key- to remove the key"},
		"LabelChangedTwice":      {[]string{"class", "set", "a", "--label", "tier-", "--label", "tier=a"}, "sets tier twice"},
		"ClassOfAPool":           {[]string{"pool", "set", "a", "--class", "A"}, `"A" is not the name of a class`},
		"RegionOfAPool":          {[]string{"pool", "create", "a", "--cidr", "10.0.0.0/8", "--region", "E U"}, `"E U" is not the name of a region`},
		"RegionsOfANewPool":      {[]string{"pool", "create", "a", "--cidr", "10.0.0.0/8", "--regions", "eu,US"}, `"US" is not the name of a region`},
		"RegionsOfAPool":         {[]string{"pool", "set", "a", "--regions", "eu,none,_"}, `"_" is not the name of a region`},
		"EmptyRegions":           {[]string{"pool", "set", "a", "--regions", ""}, "--regions needs names of regions, or none"},
		"HomeOfAPool":            {[]string{"pool", "set", "a", "--region", "eu"}, "unknown flag: --region"},
		"Consistency":            {[]string{"pool", "list", "--consistency", "eventual"}, "must be one of strong, stale"},
		"ClassFilter":            {[]string{"pool", "list", "--class", "a/b"}, `"a/b" is not the name of a class`},
		"TwoSizes":               {[]string{"claim", "create", "a", "--pool", "p", "--prefix-length", "24", "--address", "10.0.0.1"}, "each sets the size of the block"},
		"LengthOutOfBounds":      {[]string{"claim", "create", "a", "--pool", "p", "--prefix-length", "129"}, "must be a prefix length, 0 to 128"},
		"Family":                 {[]string{"claim", "create", "a", "--pool", "p", "--family", "5"}, "must be IPv4 or IPv6"},
		"Policy":                 {[]string{"claim", "create", "a", "--pool", "p", "--reclaim-policy", "keep"}, "must be one of Delete, Retain"},
		"Selector":               {[]string{"claim", "create", "a", "-l", "a in b"}, "--selector: "},
		"SelectorOfNumbers":      {[]string{"claim", "create", "a", "-l", "a>1"}, "labels are words"},
		"Ref":                    {[]string{"claim", "create", "a", "--pool", "a/b/c"}, "--pool is a name or project/name"},
		"RefFilter":              {[]string{"claim", "list", "--pool", "A"}, "--pool is a name or project/name"},
		"Label":                  {[]string{"space", "create", "a", "--label", "env"}, "must be key=value"},
		"LabelTwice":             {[]string{"space", "create", "a", "--label", "env=a", "--label", "env=b"}, "sets env twice"},
		"PoolOfNothing":          {[]string{"pool", "create", "a"}, "a pool needs --cidr (a root), or --parent"},
		"RootByLength":           {[]string{"pool", "create", "a", "--prefix-length", "8"}, "a root), or --parent"},
		"RootByCIDRAndLength":    {[]string{"pool", "create", "a", "--cidr", "10.0.0.0/8", "--prefix-length", "8"}, "--prefix-length needs --parent"},
		"ChildOfNoSize":          {[]string{"pool", "create", "a", "--parent", "b"}, "either --prefix-length or --cidr"},
		"ChildInASpace":          {[]string{"pool", "create", "a", "--parent", "b", "--prefix-length", "8", "--space", "c"}, "--space is for roots"},
		"ReservationOfNothing":   {[]string{"pool", "create", "a", "--cidr", "10.0.0.0/8", "--reserve", "first:0"}, `"0" is not a number of addresses`},
		"ReservationOfAWord":     {[]string{"pool", "create", "a", "--cidr", "10.0.0.0/8", "--reserve", "gateway"}, `--reserve gateway: "gateway" is not an address`},
		"ReservationOfABadBlock": {[]string{"pool", "create", "a", "--cidr", "10.0.0.0/8", "--reserve", "10.0.0.0/33"}, "is not a CIDR"},
		"RealmWithoutAConsumer":  {[]string{"claim", "create", "a", "--realm", "rack"}, "--realm and --consumer-ttl need --consumer"},
		"NoRealm":                {[]string{"claim", "put", "a", "--consumer", "vm", "--realm", ""}, "is not the name of a realm"},
		"TTLOfNothing":           {[]string{"claim", "create", "a", "--consumer", "vm", "--consumer-ttl", "1.5s"}, "--consumer-ttl must be whole seconds"},
		"InvalidConsumer":        {[]string{"claim", "create", "a", "--consumer", "-vm"}, "is not the UID of a consumer"},
		"TooManyConsumers":       {[]string{"claim", "create", "a", "--max-consumers", "257"}, "must be a number from 1 to 256"},
		"WhenUnused":             {[]string{"claim", "create", "a", "--when-unused", "retain"}, "must be one of Keep, Delete"},
		"OneRevisionOfMany":      {[]string{"claim", "delete", "a", "b", "--if-match", "x"}, "--if-match works with one claim only"},
		"NegativeLimit":          {[]string{"claim", "list", "--limit", "-1"}, "--limit must not be negative"},
		"NoFile":                 {[]string{"claim", "batch", "-f", filepath.Join(t.TempDir(), "none")}, "cannot read the file"},
		"NoFileFlag":             {[]string{"claim", "batch"}, `required flag(s) "file" not set`},
		"TwoDocuments":           {[]string{"claim", "batch", "-f", twoDocuments}, "more than one document"},
		"EmptyFile":              {[]string{"apply", "-f", "-"}, "it is empty"},
		"NoDatabase":             {[]string{"audit"}, "no database is given"},
		"TwoDatabases":           {[]string{"audit", "--database-url", "a", "--data-dir", "b"}, "[data-dir database-url]"},
		"NamesOfFindings":        {[]string{"audit", "-o", "name", "--database-url", "a"}, "findings have no names"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t)
			r := d.run(c.args...)
			require.Equal(t, 2, r.code, r.err)
			require.Contains(t, r.err, c.want)
			require.Contains(t, r.err, "--help'.")
			require.Empty(t, r.out)
			require.Empty(t, d.requests())
		})
	}
}

func TestMissingProjectIsRefused(t *testing.T) {
	t.Parallel()
	d := answering(t, ok(example(t, "IPPoolList")))
	delete(d.env, "CARVE_PROJECT")
	r := d.run("pool", "list")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, "no project is given: use --project (-p), CARVE_PROJECT or a context")
	require.Empty(t, d.requests())
}

func TestFlagsOverrideTheEnvironment(t *testing.T) {
	t.Parallel()
	d := answering(t, ok(example(t, "IPPool")), ok(example(t, "IPPool")))
	d.env["CARVE_OUTPUT"], d.env["CARVE_TIMEOUT"] = "name", "1m"
	require.Equal(t, "prod-eu\n", d.run("pool", "get", "prod-eu").out)
	require.Contains(t, d.run("pool", "get", "prod-eu", "-o", "table", "-p", "team-b").out, "NAME")
	require.Equal(t, "/v1/projects/team-b/pools/prod-eu", d.requests()[1].uri)
	d.env["CARVE_TIMEOUT"] = "soon"
	r := d.run("pool", "get", "prod-eu")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, "CARVE_TIMEOUT=soon")
}

func TestHelpNeedsNoServerAndNoProject(t *testing.T) {
	t.Parallel()
	d := answering(t)
	d.env = map[string]string{"CARVE_DATABASE_URL": "postgres://carve:hunter2@db/carve"}
	for _, args := range [][]string{nil, {"help"}, {"pool", "create", "--help"}, {"help", "exit-codes"}, {"audit", "--help"}, {"completion", "bash"}} {
		r := d.run(args...)
		require.Zero(t, r.code, args)
		require.NotEmpty(t, r.out)
		require.NotContains(t, r.out, "hunter2")
	}
}

func TestShellsCompleteNamesAndWords(t *testing.T) {
	t.Parallel()
	d := answering(t, ok(example(t, "IPClaimList")))
	require.Contains(t, d.done("__complete", "claim", "delete", "").out, "web-eu\n")
	require.Contains(t, answering(t).done("__complete", "pool", "create", "--strategy", "").out, "FirstFit\n")
	for _, verb := range []string{"set", "show"} {
		require.Contains(t, answering(t, ok(example(t, "IPClaimList"))).done("__complete", "claim", verb, "").out, "web-eu\n")
	}
	require.Contains(t, answering(t).done("__complete", "claim", "set", "a", "--reclaim-policy", "").out, "Retain\nnone\n")
	refused := answering(t, refusal(t, "ProblemNotFound")).done("__complete", "pool", "get", "")
	require.NotContains(t, refused.out, "error")
}
