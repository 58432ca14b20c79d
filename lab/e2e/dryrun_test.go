package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The test makes a dry run of each changing example of the contract. It must return the response of the real operation and must change no row in any
// table.
func TestDryRun(t *testing.T) {
	t.Parallel()
	s := setupStage(t)
	for _, each := range s.specimens(t) {
		if !each.op.changes() || each.op.id == "releaseClaims" { // its dry run cannot return the response of the real operation
			continue
		}
		t.Run(each.String(), func(t *testing.T) {
			options := []option{dryRun}
			if each.op.creates() {
				options = append(options, key("dry-"+each.example))
			}
			var dry answer
			s.writesNothing(t, func() {
				for range 2 {
					dry = each.send(t, s.caller, options...)
					require.True(t, dry.ok(), string(dry.body))
					require.Equal(t, "true", dry.header.Get("Dry-Run"))
					require.Empty(t, dry.header.Get("Idempotency-Replayed"), "a dry run uses up no key")
				}
			})
			require.NotContains(t, string(dry.body), `"token"`, "of a key that does not exist")
			wet := each.send(t, s.caller, options[1:]...)
			require.Equal(t, dry.status, wet.status, string(wet.body))
			require.Empty(t, wet.header.Get("Dry-Run"))
			require.Empty(t, wet.header.Get("Idempotency-Replayed"), "a dry run uses up no key")
			require.Equal(t, lasting(t, dry), lasting(t, wet))
		})
	}
}

// lasting returns the parts of a response that are the same in a repeat of the request. It removes ids, times and generated names.
func lasting(t testing.TB, a answer) any {
	t.Helper()
	if len(a.body) == 0 {
		return nil
	}
	var v any
	require.NoError(t, json.Unmarshal(a.body, &v))
	return strip(v)
}

var passing = []string{"uid", "revision", "createdAt", "updatedAt", "lastTransitionTime", "allocationRef", "keyId", "token", "secret", "renewedAt", "expiresAt", "confirmedUntil"}

func strip(v any) any {
	switch v := v.(type) {
	case obj:
		for _, name := range passing {
			delete(v, name)
		}
		for _, prefix := range []string{"node-", "web-"} {
			if name, _ := v["name"].(string); len(name) == len(prefix)+1+8 && strings.HasPrefix(name, prefix) { // one letter for the region, and eight more
				v["name"] = prefix + "*"
			}
		}
		for name, each := range v {
			v[name] = strip(each)
		}
	case []any:
		for i, each := range v {
			v[i] = strip(each)
		}
	}
	return v
}

func TestDryRunIsRefusedLikeTheRealRequest(t *testing.T) {
	t.Parallel()
	s := setupStage(t)
	team := "/v1/projects/" + s.names["project"]
	s.writesNothing(t, func() {
		for code, a := range map[string]answer{
			"already_exists":      s.do(t, http.MethodPost, team+"/claims", named("web-eu", from("prod-eu", 24)), dryRun),
			"overlap":             s.do(t, http.MethodPost, team+"/pools", named("x", obj{"cidr": "10.0.0.0/8"}), dryRun),
			"never_satisfiable":   s.do(t, http.MethodPut, team+"/claims/x", obj{"spec": from("prod-eu", 8)}, dryRun),
			"in_use":              s.do(t, http.MethodDelete, team+"/pools/prod-eu", nil, dryRun),
			"precondition_failed": s.do(t, http.MethodDelete, team+"/claims/web-eu", nil, dryRun, ifMatch(`"stale"`)),
			"immutable_field":     s.do(t, http.MethodPatch, team+"/claims/web-eu", obj{"spec": obj{"prefixLength": 25}}, dryRun, ifMatch("*")),
			"no_pool_for_class":   s.do(t, http.MethodPost, team+"/claims", named("x", by("idle")), dryRun),
			"not_found":           s.do(t, http.MethodDelete, team+"/spaces/nowhere", nil, dryRun),
		} {
			s.refused(t, a, code)
			require.Empty(t, a.header.Get("Dry-Run"), "is about answers that would be given")
		}
	})
}
