package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// made has the values from which a test makes a pool or a claim. All other values come from the contract's example.
type made struct {
	name, cidr string
	parent     string // project/name; empty for a root
	space      string // project/name
}

func (m made) pool(t *testing.T) json.RawMessage {
	t.Helper()
	var p map[string]any
	require.NoError(t, json.Unmarshal(example(t, "IPPool"), &p))
	p["metadata"].(map[string]any)["name"] = m.name
	status := p["status"].(map[string]any)
	status["allocatedCIDR"] = m.cidr
	status["spaceRef"] = ref(m.space)
	if m.parent != "" {
		status["parentRef"] = ref(m.parent)
	}
	return marshal(t, p)
}

func (m made) claim(t *testing.T) json.RawMessage {
	t.Helper()
	var c map[string]any
	require.NoError(t, json.Unmarshal(example(t, "IPClaim"), &c))
	c["metadata"].(map[string]any)["name"] = m.name
	status := c["status"].(map[string]any)
	status["allocatedCIDR"] = m.cidr
	status["poolRef"] = ref(m.parent)
	return marshal(t, c)
}

func ref(s string) map[string]string {
	project, name, _ := strings.Cut(s, "/")
	return map[string]string{"project": project, "name": name}
}

func marshal(t *testing.T, v any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return text
}

func listOf(t *testing.T, items ...json.RawMessage) reply {
	t.Helper()
	if items == nil {
		items = []json.RawMessage{}
	}
	return ok(marshal(t, map[string]any{"items": items}))
}

// treeServer responds to the requests of the command `tree`. The responses have the spaces and the pools in the order of their names. If claims is
// true, they also have the claims.
func treeServer(t *testing.T, claims bool) *double {
	t.Helper()
	const space = "team-a/default"
	script := []reply{
		ok(example(t, "SpaceList")), // the spaces default and lab
		listOf(t,
			made{"borrowed", "192.0.2.0/28", "team-b/shared", "team-b/default"}.pool(t),
			made{"k8s", "10.20.64.0/18", "team-a/prod-eu", space}.pool(t),
			made{"k8s-blue", "10.20.64.0/20", "team-a/k8s", space}.pool(t),
			made{"k8s-green", "10.20.80.0/20", "team-a/k8s", space}.pool(t),
			made{"prod-eu", "10.20.0.0/16", "", space}.pool(t),
			made{"prod-v6", "2001:db8::/32", "", space}.pool(t),
			made{"stage", "10.4.0.0/16", "", space}.pool(t),
			made{"vpn", "10.20.48.0/20", "team-a/prod-eu", space}.pool(t),
		),
	}
	if claims {
		script = append(script, listOf(t,
			made{name: "elsewhere", cidr: "198.51.100.7/32", parent: "team-b/public"}.claim(t),
			made{name: "late", cidr: "10.20.200.0/24", parent: "team-a/prod-eu"}.claim(t),
			made{name: "node-1", cidr: "10.20.64.0/26", parent: "team-a/k8s-blue"}.claim(t),
			made{name: "web", cidr: "10.20.1.0/24", parent: "team-a/prod-eu"}.claim(t),
		))
	}
	return answering(t, script...)
}

func TestTreeIsOrderedByAddressWithinSpaces(t *testing.T) {
	t.Parallel()
	requireGolden(t, "tree", treeServer(t, false).done("pool", "tree").out)
	requireGolden(t, "tree-wide", treeServer(t, false).done("pool", "tree", "-o", "wide").out)
	requireGolden(t, "tree-claims", treeServer(t, true).done("pool", "tree", "--claims").out)
	requireGolden(t, "tree-below", treeServer(t, true).done("pool", "tree", "k8s", "--claims").out)
	requireGolden(t, "tree-names", treeServer(t, false).done("pool", "tree", "-o", "name").out)
}

func TestTreePrintsAStructuredDocument(t *testing.T) {
	t.Parallel()
	type node struct {
		Pool   struct{ Metadata struct{ Name string } }
		Pools  []node
		Claims []struct{ Metadata struct{ Name string } }
	}
	var doc struct {
		Spaces []struct {
			Space, Parent string
			Pools         []node
		}
	}
	require.NoError(t, json.Unmarshal([]byte(treeServer(t, true).done("pool", "tree", "--claims", "-o", "json").out), &doc))
	require.Len(t, doc.Spaces, 3)
	require.Equal(t, "team-a/default", doc.Spaces[0].Space)
	require.Equal(t, "team-a/lab", doc.Spaces[1].Space)
	require.Empty(t, doc.Spaces[1].Pools)
	require.Equal(t, "team-b/shared", doc.Spaces[2].Parent)
	blue := doc.Spaces[0].Pools[1].Pools[1].Pools[0]
	require.Equal(t, "k8s-blue", blue.Pool.Metadata.Name)
	require.Equal(t, "node-1", blue.Claims[0].Metadata.Name)
}

func TestTreeOfAMissingPoolIsNotFound(t *testing.T) {
	t.Parallel()
	r := treeServer(t, false).run("pool", "tree", "gone")
	require.Equal(t, 3, r.code)
	require.Contains(t, r.err, "pool team-a/gone was not found")
}
