package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// applied returns the diagnostics of an apply and the new state. If prior is nil, the resource has no state before the apply.
func applied(t *testing.T, s tfprotov6.ProviderServer, k kind, prior, config values) ([]*tfprotov6.Diagnostic, values) {
	t.Helper()
	of := (&field{form: object, fields: k.all()}).attrType().TerraformType(t.Context())
	dynamic := func(v values) *tfprotov6.DynamicValue {
		raw := tftypes.NewValue(of, nil)
		if v != nil {
			raw = write(t.Context(), k.all(), v)
		}
		d, err := tfprotov6.NewDynamicValue(of, raw)
		require.NoError(t, err)
		return &d
	}
	resp, err := s.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: "carve_" + k.name, PriorState: dynamic(prior), PlannedState: dynamic(config), Config: dynamic(config),
	})
	require.NoError(t, err)
	state, err := resp.NewState.Unmarshal(of)
	require.NoError(t, err)
	return resp.Diagnostics, read(state)
}

func TestForeignObjectOfTheNameIsNeitherChangedNorAdopted(t *testing.T) {
	t.Setenv("CARVE_CONFIG", t.TempDir()+"/none")
	for name, c := range map[string]struct {
		there   []string // the UIDs that the server returns, one for each read
		labels  any
		patches int
	}{
		"BeforeTheFirstRead": {[]string{"theirs"}, map[string]any{"env": "prod"}, 0},
		"AfterTheFirstRead":  {[]string{"ours", "theirs"}, map[string]any{"env": "prod"}, 1},
		"WithNothingToSend":  {[]string{"theirs"}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			patches := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPatch {
					patches++
					if len(c.there) > 0 { // another client created the object first
						w.Header().Set("Content-Type", "application/problem+json")
						w.WriteHeader(http.StatusPreconditionFailed)
						fmt.Fprint(w, `{"code":"precondition_failed"}`)
						return
					}
				}
				w.Header().Set("Content-Type", "application/json")
				uid := "theirs"
				if len(c.there) > 0 {
					uid, c.there = c.there[0], c.there[1:]
				}
				fmt.Fprintf(w, `{"metadata":{"name":"web","uid":%q,"project":"team-a","revision":"of-%[1]s"},"spec":{},"status":{}}`, uid)
			}))
			defer server.Close()
			diagnostics, state := applied(t, serving(t, server.URL), claim(),
				values{"project": "team-a", "name": "web", "uid": "ours"},
				values{"project": "team-a", "name": "web", "labels": c.labels})
			require.Len(t, diagnostics, 1)
			assert.Equal(t, "Another claim has the name", diagnostics[0].Summary)
			assert.Equal(t, "ours", state["uid"])
			assert.Equal(t, c.patches, patches)
		})
	}
}

func TestObjectCreatedDuringAnInterruptIsInTheState(t *testing.T) {
	t.Setenv("CARVE_CONFIG", t.TempDir()+"/none")
	for _, c := range []struct {
		kind   kind
		config values
	}{
		{quota(), values{"project": "team-a", "name": "all", "limits": map[string]any{"claims": int64(3)}}},
		{grant(), values{"project": "team-a", "pool": "prod", "consumer": "*"}},
		{member(), values{"project": "team-a", "subject": "corp:alice", "role": "viewer"}},
		{consumer(), values{"project": "team-a", "realm": "default", "uid": "vm"}},
	} {
		t.Run(c.kind.name, func(t *testing.T) {
			var s tfprotov6.ProviderServer
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, err := s.StopProvider(r.Context(), &tfprotov6.StopProviderRequest{})
				assert.NoError(t, err)
				d := document{}
				if c.kind.body(c.config, nil) != nil {
					assert.NoError(t, json.NewDecoder(r.Body).Decode(&d))
				}
				d.set("/metadata", map[string]any{"uid": "u", "createdBy": "me"})
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusCreated)
				assert.NoError(t, json.NewEncoder(w).Encode(d))
			}))
			defer server.Close()
			s = serving(t, server.URL)
			diagnostics, state := applied(t, s, c.kind, nil, c.config)
			require.Empty(t, diagnostics)
			assert.Equal(t, c.kind.id(c.config), state["id"])
		})
	}
}
