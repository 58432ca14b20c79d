package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExamplesOfProblemsHaveTheFieldsOfTheRefusals provokes refusals and compares the names of their fields with the examples of the contract.
func TestExamplesOfProblemsHaveTheFieldsOfTheRefusals(t *testing.T) {
	t.Parallel()
	w := setup(t)
	exact := func(pool, cidr string) obj { return obj{"poolRef": obj{"name": pool}, "cidr": cidr} }
	post := func(collection, name string, spec obj) answer {
		return w.do(t, http.MethodPost, at(collection), named(name, spec))
	}
	put := func(collection, name string, spec obj, options ...option) answer {
		return w.do(t, http.MethodPut, at(collection, name), obj{"spec": spec}, options...)
	}
	patch := func(collection, name, etag string, spec obj) answer {
		return w.do(t, http.MethodPatch, at(collection, name), obj{"spec": spec}, ifMatch(etag))
	}
	remove := func(collection, name string) answer { return w.do(t, http.MethodDelete, at(collection, name), nil) }
	class := func(name string, spec obj) {
		spec["ipFamily"] = "IPv4"
		w.created(t, post("classes", name, spec))
	}

	w.pool(t, "p", obj{"cidr": "10.20.0.0/16", "allocation": obj{"minPrefixLength": 18, "maxPrefixLength": 32}})
	w.pool(t, "small", obj{"cidr": "10.40.0.0/26"})
	w.pool(t, "drained", obj{"cidr": "10.41.0.0/24"})
	w.ok(t, patch("pools", "drained", "*", obj{"drain": "Keep"}))
	w.pool(t, "kept", obj{"cidr": "10.42.0.0/24"})
	class("none", obj{"isDefault": true})
	class("web", obj{"defaultPrefixLength": 26, "allowedPrefixLengths": obj{"min": 24, "max": 28}})
	class("scoped", obj{"poolPer": []string{"project", "cluster"}, "poolPrefixLength": 26})
	w.pool(t, "web", obj{"cidr": "10.43.0.0/26", "classNames": []string{"web"}, "reuseAfter": "1h"})
	held := w.claim(t, "held", exact("p", "10.20.1.0/24"))
	w.claim(t, "half", exact("small", "10.40.0.0/27"))
	retained := exact("kept", "10.42.0.17/32")
	retained["reclaimPolicy"] = "Retain"
	w.claim(t, "retained", retained)
	w.release(t, "retained")
	w.claim(t, "web", obj{"className": "web"})

	for example, refuse := range map[string]func() answer{
		"AlreadyExists":      func() answer { return post("pools", "p", obj{"cidr": "10.90.0.0/16"}) },
		"DefaultClassExists": func() answer { return post("classes", "d", obj{"ipFamily": "IPv4", "isDefault": true}) },
		"SpecDiffers":        func() answer { return put("claims", "held", from("p", 25)) },
		"Overlap":            func() answer { return post("pools", "wide", obj{"cidr": "10.20.0.0/14"}) },
		"NotFound":           func() answer { return w.postClaim(t, "x", from("none", 24)) },
		"ClassNotFound":      func() answer { return w.postClaim(t, "x", obj{"className": "gold"}) },
		"NoPoolForClass":     func() answer { return w.postClaim(t, "x", obj{"className": "none", "prefixLength": 28}) },
		"NoDefaultClass":     func() answer { return w.postClaim(t, "x", obj{"ipFamily": "IPv6"}) },
		"NoPoolMatches": func() answer {
			return w.postClaim(t, "x", obj{"poolSelector": obj{"matchLabels": obj{"a": "b"}}, "prefixLength": 28})
		},
		"MissingRoles":         func() answer { return w.postClaim(t, "x", obj{"className": "scoped"}) },
		"BlockTaken":           func() answer { return w.postClaim(t, "x", exact("p", "10.20.1.0/24")) },
		"BlockRetained":        func() answer { return w.postClaim(t, "x", exact("kept", "10.42.0.17/32")) },
		"ReservationTaken":     func() answer { return patch("pools", "p", "*", obj{"reservations": []obj{{"cidr": "10.20.1.0/28"}}}) },
		"PrefixLengthRejected": func() answer { return w.postClaim(t, "x", from("p", 17)) },
		"NeverSatisfiable":     func() answer { return w.postClaim(t, "x", from("p", 15)) },
		"ClassBounds":          func() answer { return w.postClaim(t, "x", obj{"className": "web", "prefixLength": 20}) },
		"FamilyMismatch":       func() answer { return w.postClaim(t, "x", obj{"poolRef": obj{"name": "p"}, "ipFamily": "IPv6"}) },
		"PoolExhausted":        func() answer { return w.postClaim(t, "x", from("small", 26)) },
		"PoolDraining":         func() answer { return w.postClaim(t, "x", from("drained", 28)) },
		"PoolInUse":            func() answer { return remove("pools", "p") },
		"AllocationRetained":   func() answer { return remove("pools", "kept") },
		"AllocationBound":      func() answer { return remove("allocations", held.Status.AllocationRef.Name) },
		"ClassInUse":           func() answer { return remove("classes", "web") },
		"ProjectInUse":         func() answer { return w.do(t, http.MethodDelete, "/v1/projects/"+project, nil) },
		"ImmutableField":       func() answer { return patch("claims", "held", "*", from("p", 27)) },
		"PreconditionFailed": func() answer {
			return patch("claims", "held", `"3f2504e0-4f89-41d3-9a0c-0305e82c3301"`, obj{"reclaimPolicy": "Retain"})
		},
		"NotCreated": func() answer { return put("claims", "held", from("p", 24), header("If-None-Match", "*")) },
	} {
		t.Run(example, func(t *testing.T) {
			shown, err := json.Marshal(contract().doc.Components.Examples["Problem"+example].Value.Value)
			require.NoError(t, err)
			require.Equal(t, members(t, shown), members(t, refuse().body))
		})
	}
	t.Run("QuotaExceeded", func(t *testing.T) {
		w.quota(t, "q", obj{}, obj{"addresses": "1"})
		shown, err := json.Marshal(contract().doc.Components.Examples["ProblemQuotaExceeded"].Value.Value)
		require.NoError(t, err)
		require.Equal(t, members(t, shown), members(t, w.postClaim(t, "x", from("p", 28)).body))
	})
}

// members returns the names of a JSON object's members, with its code.
func members(t *testing.T, raw []byte) []string {
	t.Helper()
	var o obj
	require.NoError(t, json.Unmarshal(raw, &o))
	names := []string{"=" + o["code"].(string)}
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
