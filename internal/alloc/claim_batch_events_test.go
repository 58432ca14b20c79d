package alloc_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// A claim in a batch records the same event as a single claim, except for its block. A batch encodes the common fields of its claims only once, and
// the test checks that they are still right.
func TestBatchEventsEqualSingleClaimEvents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, project, class("hosts", lengths(24, 32, 32)))
	b.pool(t, root("net", "10.0.0.0/24", labelled("for", "hosts"), backing("hosts")))
	owner := func(name string) claimOption {
		return func(c *ipam.Claim) { c.Spec.OwnerRef = &ipam.OwnerRef{Kind: "VM", Name: name} }
	}
	kinds := []struct {
		name string
		make func(name string) ipam.Claim
	}{
		{"ByPool", func(name string) ipam.Claim { return claim(name, "net", 32) }},
		{"ByPoolOnceMore", func(name string) ipam.Claim { return claim(name, "net", 32) }},
		{"WithLabels", func(name string) ipam.Claim { return claim(name, "net", 32, withLabels("a", "b")) }},
		{"WithOneOwner", func(name string) ipam.Claim { return claim(name, "net", 32, owner("one")) }},
		{"WithAnother", func(name string) ipam.Claim { return claim(name, "net", 32, owner("another")) }},
		{"OfAnotherLength", func(name string) ipam.Claim { return claim(name, "net", 31, retain) }},
		{"BySelector", func(name string) ipam.Claim { return selecting(name, matching("for", "hosts"), length(32)) }},
		{"ByClass", func(name string) ipam.Claim { return byClass(name, "hosts") }},
		{"ByClassWithLabels", func(name string) ipam.Claim { return byClass(name, "hosts", withLabels("a", "b")) }},
	}
	var many []ipam.Claim
	for i, k := range kinds {
		_, err := b.CreateClaim(b.from("one"), project, k.make("single-"+string(rune('a'+i))), usecase.Request{})
		require.NoError(t, err)
		many = append(many, k.make("batch-"+string(rune('a'+i))))
	}
	had := len(b.dump(t)["audit_events"])
	made, err := b.CreateClaimBatch(b.from("many"), project, many, usecase.Request{})
	require.NoError(t, err)
	require.Len(t, b.dump(t)["audit_events"], had+1, "all of them in one row")
	events := map[string]ipam.Event{}
	for _, e := range b.claimTrail(t, project) {
		events[e.Name] = e
	}
	for i, k := range kinds {
		single, batch := events["single-"+string(rune('a'+i))], events["batch-"+string(rune('a'+i))]
		require.Equal(t, made.Value[i].Block.String(), inside(t, batch.After, "allocatedCIDR"), k.name)
		require.Equal(t, withoutBlock(t, single.After), withoutBlock(t, batch.After), k.name)
		require.NotEmpty(t, inside(t, batch.After, "poolRef", "name"), k.name)
		require.Equal(t, []string{single.Outcome, single.Kind, single.Method}, []string{batch.Outcome, batch.Kind, batch.Method}, k.name)
		require.Equal(t, []string{"many", "op-many"}, []string{batch.Subject, batch.Operation}, k.name)
	}
}

func withoutBlock(t *testing.T, doc json.RawMessage) map[string]any {
	t.Helper()
	var record map[string]any
	require.NoError(t, json.Unmarshal(doc, &record))
	delete(record, "allocatedCIDR")
	record["allocationRef"] = record["allocationRef"] != nil // the name differs for each claim
	return record
}
