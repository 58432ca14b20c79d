package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResourcesArePrintedInEveryFormat(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string
		args   []string
	}{
		"projects":    {"ProjectList", []string{"project", "list"}},
		"spaces":      {"SpaceList", []string{"space", "list"}},
		"claims":      {"IPClaimList", []string{"claim", "list"}},
		"allocations": {"IPAllocationList", []string{"allocation", "list"}},
		"classes":     {"IPClassList", []string{"class", "list"}},
		"scoped":      {"IPPoolScoped", []string{"pool", "get", "per-cluster-5f0c1d8a92be"}},
		"by-class":    {"IPClaimByClass", []string{"claim", "get", "node-1"}},
		"cooling":     {"IPAllocationCoolingDown", []string{"allocation", "get", "a4f697eb-c8d3-451e-a60a-17b3e40526a9"}},
		"pool":        {"IPPool", []string{"pool", "get", "prod-eu"}},
		"regions":     {"RegionList", []string{"region", "list"}},
		"served":      {"IPPoolRegions", []string{"pool", "get", "global"}},
		"child":       {"IPPoolChild", []string{"pool", "get", "prod-eu-k8s"}},
		"address":     {"IPClaimAddress", []string{"claim", "get", "ingress-vip"}},
		"free":        {"PoolFree", []string{"pool", "free", "prod-eu"}},
		"foreign":     {"IPAllocationForeign", []string{"allocation", "get", "c6172839-4a5b-46c7-98d9-eafb0c1d2e3f"}},
		"members":     {"MemberList", []string{"member", "list"}},
		"keys":        {"ApiKeyList", []string{"key", "list"}},
		"grants":      {"GrantList", []string{"grant", "list", "--pool", "shared-eu"}},
		"quotas":      {"QuotaList", []string{"quota", "list"}},
		"events":      {"AuditEventList", []string{"event", "list"}},
		"found":       {"SearchAddress", []string{"search", "10.20.1.7"}},
		"history":     {"HistoryEntryList", []string{"history", "10.20.65.9", "--at", "2026-03-03T12:00:00Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all strings.Builder
			for _, format := range [][]string{
				{"-o", "table"}, {"-o", "wide"}, {"-o", "name"}, {"-o", "yaml"}, {"-o", "json"}, {"-q"}, {"--no-headers"},
			} {
				r := answering(t, ok(lastPage(t, c.answer))).done(append(c.args, format...)...)
				require.Empty(t, r.err)
				all.WriteString("$ ipamctl " + strings.Join(append(c.args, format...), " ") + "\n" + r.out + "\n")
			}
			requireGolden(t, name, all.String())
		})
	}
}

// lastPage returns an example of a list without the cursor to the next page.
func lastPage(t *testing.T, name string) json.RawMessage {
	t.Helper()
	var doc map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(example(t, name), &doc))
	delete(doc, "nextCursor")
	text, err := json.Marshal(doc)
	require.NoError(t, err)
	return text
}

func TestQuietPrintsTheCIDROfBlocksAndTheNameOfOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer reply
		args   []string
		want   string
	}{
		"CreatedClaim":   {created(example(t, "IPClaim")), []string{"claim", "create", "web-eu", "--pool", "prod-eu"}, "10.20.1.0/24\n"},
		"CreatedAddress": {created(example(t, "IPClaimAddress")), []string{"claim", "create", "vip", "--pool", "prod-eu"}, "10.20.0.17/32\n"},
		"PutClaim":       {ok(example(t, "IPClaim")), []string{"claim", "put", "web-eu", "--pool", "prod-eu"}, "10.20.1.0/24\n"},
		"ReadClaim":      {ok(example(t, "IPClaim")), []string{"claim", "get", "web-eu"}, "10.20.1.0/24\n"},
		"CreatedPool":    {created(example(t, "IPPool")), []string{"pool", "create", "prod-eu", "--cidr", "10.20.0.0/16"}, "10.20.0.0/16\n"},
		"ReadPool":       {ok(example(t, "IPPool")), []string{"pool", "get", "prod-eu"}, "10.20.0.0/16\n"},
		"CreatedClass":   {created(example(t, "IPClass")), []string{"class", "create", "standard", "--family", "4"}, "standard\n"},
		"ShownClass":     {ok(example(t, "IPClass")), []string{"class", "show", "standard"}, "standard\n"},
		"Explained":      {ok(example(t, "ClaimExplanationBound")), []string{"claim", "explain"}, "10.96.4.0/26\n"},
		"CreatedSpace":   {created(example(t, "Space")), []string{"space", "create", "lab"}, "lab\n"},
		"CreatedProject": {created(example(t, "Project")), []string{"project", "create", "team-a"}, "team-a\n"},
		"ListOfClaims":   {ok(example(t, "IPClaimList")), []string{"claim", "list"}, "web-eu\n"},
		"DeletedClaim":   {gone(), []string{"claim", "delete", "web-eu"}, "web-eu\n"},
		"ReadAllocation": {ok(example(t, "IPAllocation")), []string{"allocation", "get", "d4c1f7a2-8e0b-4f2c-9b16-5a7e3c9d1f08"}, "d4c1f7a2-8e0b-4f2c-9b16-5a7e3c9d1f08\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := answering(t, c.answer).done(append(c.args, "--quiet")...)
			require.Equal(t, c.want, r.out)
			require.Empty(t, r.err)
		})
	}
}

func TestDocumentsArePrintedAsReceived(t *testing.T) {
	t.Parallel()
	// The members of this document have the server's order, and this build does not know one of them. One number does not fit into a float64. YAML
	// would read some of the texts as other types.
	doc := json.RawMessage(`{"status":{"phase":"Active","future":12345678901234567890.10},"spec":{"displayName":"yes","description":"a\nb: é <&> 010"},` +
		`"metadata":{"uid":"8d9a4c1e-2b7f-4a53-9d60-71c5be0f2a11","name":"team-a","generation":1,"revision":"007","createdBy":"dev",` +
		`"createdAt":"2026-03-02T09:00:00Z","updatedAt":"2026-03-02T09:00:00Z","labels":{"build":"1.10","empty":""},"annotations":{}}}`)
	for _, format := range []string{"json", "yaml"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			r := answering(t, ok(doc)).done("project", "get", "team-a", "-o", format)
			requireGolden(t, "as-sent-"+format, r.out)
		})
	}
}

func TestGetOfSeveralNamesPrintsOneList(t *testing.T) {
	t.Parallel()
	r := answering(t, ok(example(t, "IPPool")), ok(example(t, "IPPoolChild"))).done("pool", "get", "prod-eu", "prod-eu-k8s", "-o", "json")
	var l struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	require.NoError(t, json.Unmarshal([]byte(r.out), &l))
	require.Len(t, l.Items, 2)
	require.Equal(t, "prod-eu-k8s", l.Items[1].Metadata.Name)
}

func TestEmptyListIsReportedOnlyOnStderr(t *testing.T) {
	t.Parallel()
	r := answering(t, ok(json.RawMessage(`{"items":[]}`))).done("pool", "list")
	require.Empty(t, r.out)
	require.Equal(t, "no pools\n", r.err)
	r = answering(t, ok(json.RawMessage(`{"items":[]}`))).done("pool", "list", "-o", "json")
	require.JSONEq(t, `{"items":[]}`, r.out)
}

// If a name is mistyped, the list must fail. Otherwise a cleanup script could take the result for an empty list.
func TestListByAMissingNameFailsAndNamesIt(t *testing.T) {
	t.Parallel()
	d := answering(t, refusal(t, "ProblemUnknownName"))
	r := d.run("claim", "list", "--pool", "prod-uk")
	require.Equal(t, 1, r.code)
	require.Empty(t, r.out)
	require.Contains(t, r.err, `query:pool names the pool "prod-uk", which does not exist`)
	require.Equal(t, "prod-uk", query(t, d.requests()[0], "pool"))
}

func TestControlCharactersDoNotReachTheTerminal(t *testing.T) {
	t.Parallel()
	doc := strings.NewReplacer("Shops in Europe", `Shops\nin\tEurope`, `"dev"`, `"\u001b[31mdev"`).Replace(string(example(t, "Project")))
	r := answering(t, ok(json.RawMessage(doc))).done("project", "get", "team-a", "-o", "wide")
	require.Contains(t, r.out, "Shops in Europe")
	require.Contains(t, r.out, " [31mdev")
	require.Equal(t, 2, strings.Count(r.out, "\n"))
}

func TestServerRemarksGoToStderr(t *testing.T) {
	t.Parallel()
	claim := example(t, "IPClaim")
	create := []string{"claim", "create", "web-eu", "--pool", "prod-eu"}
	t.Run("DryRun", func(t *testing.T) {
		t.Parallel()
		d := answering(t, reply{201, claim, map[string]string{"Dry-Run": "true"}})
		require.Contains(t, d.done(append(create, "--dry-run")...).err, "dry run: nothing was written")
		require.Equal(t, "/v1/projects/team-a/claims?dryRun=true", d.requests()[0].uri)
	})
	t.Run("Replay", func(t *testing.T) {
		t.Parallel()
		d := answering(t, reply{201, claim, map[string]string{"Idempotency-Replayed": "true"}})
		require.Contains(t, d.done(append(create, "--idempotency-key", "k1")...).err, "stored response")
	})
	t.Run("PutOfAnExistingClaim", func(t *testing.T) {
		t.Parallel()
		d := answering(t, ok(claim))
		require.Contains(t, d.done("claim", "put", "web-eu", "--pool", "prod-eu").err, "exists already")
	})
	t.Run("PutOfANewClaim", func(t *testing.T) {
		t.Parallel()
		d := answering(t, created(claim))
		require.Empty(t, d.done("claim", "put", "web-eu", "--pool", "prod-eu").err)
	})
}

func TestListsKeepTheirDocumentsUnchanged(t *testing.T) {
	t.Parallel()
	doc := strings.ReplaceAll(string(example(t, "ProjectList")), "Shops in Europe", `<Shops> & more`)
	r := answering(t, ok(json.RawMessage(doc))).done("project", "list", "-o", "json")
	require.Contains(t, r.out, "<Shops> & more")
}
