package provider

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// serving returns the provider's protocol server, which is configured for a Carve server.
func serving(t *testing.T, url string) tfprotov6.ProviderServer {
	t.Helper()
	s, err := providerserver.NewProtocol6WithError(New("1.2.3")())()
	require.NoError(t, err)
	schema, err := s.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	require.NoError(t, err)
	require.Empty(t, schema.Diagnostics)
	of := schema.Provider.ValueType().(tftypes.Object) //nolint:forcetypeassert // a schema is an object
	config := map[string]tftypes.Value{}
	for name, t := range of.AttributeTypes {
		config[name] = tftypes.NewValue(t, nil)
	}
	config["server"] = tftypes.NewValue(tftypes.String, url)
	config["project"] = tftypes.NewValue(tftypes.String, "team-a")
	config["api_key"] = tftypes.NewValue(tftypes.String, "secret")
	dynamic, err := tfprotov6.NewDynamicValue(of, tftypes.NewValue(of, config))
	require.NoError(t, err)
	configured, err := s.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: &dynamic})
	require.NoError(t, err)
	require.Empty(t, configured.Diagnostics)
	return s
}

func TestImportByIdentityReadsTheObject(t *testing.T) {
	t.Setenv("CARVE_CONFIG", t.TempDir()+"/none")
	var agent, authorization string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent, authorization = r.UserAgent(), r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"metadata":{"name":"web","uid":"u","project":"team-a"},"spec":{},"status":{"allocatedCIDR":"10.0.0.0/28"}}`)
	}))
	defer server.Close()
	s := serving(t, server.URL)
	of := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"project": tftypes.String, "name": tftypes.String}}
	identity, err := tfprotov6.NewDynamicValue(of, tftypes.NewValue(of, map[string]tftypes.Value{
		"project": tftypes.NewValue(tftypes.String, nil), "name": tftypes.NewValue(tftypes.String, "web"),
	}))
	require.NoError(t, err)
	imported, err := s.ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{
		TypeName: "carve_claim", Identity: &tfprotov6.ResourceIdentityData{IdentityData: &identity},
	})
	require.NoError(t, err)
	require.Empty(t, imported.Diagnostics)
	require.Len(t, imported.ImportedResources, 1)
	one := imported.ImportedResources[0]
	got, err := one.Identity.IdentityData.Unmarshal(of)
	require.NoError(t, err)
	assert.Equal(t, values{"project": "team-a", "name": "web"}, read(got))

	again, err := s.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{TypeName: "carve_claim", CurrentState: one.State, CurrentIdentity: one.Identity})
	require.NoError(t, err)
	require.Empty(t, again.Diagnostics)
	state, err := again.NewState.Unmarshal((&field{form: object, fields: claim().all()}).attrType().TerraformType(t.Context()))
	require.NoError(t, err)
	assert.Equal(t, "10.0.0.0/28", read(state)["cidr"])
	assert.Equal(t, "team-a/web", read(state)["id"])
	assert.Contains(t, agent, "terraform-provider-carve/1.2.3 carve-go/")
	assert.Equal(t, "Bearer secret", authorization)
}

func TestAllRequestsWaitAfterARateLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64
		began := time.Now()
		p := &retryTransport{next: answers(func(r *http.Request) *http.Response {
			body, err := io.ReadAll(r.Body)
			assert.NoError(t, err)
			assert.Equal(t, "body", string(body))
			status := http.StatusOK
			if sent.Add(1) == 1 {
				status = http.StatusTooManyRequests
			}
			return &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {"7"}}, Body: http.NoBody}
		})}
		for range 2 {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://carve", strings.NewReader("body"))
			require.NoError(t, err)
			resp, err := p.RoundTrip(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			assert.Equal(t, http.StatusOK, resp.StatusCode)
		}
		assert.GreaterOrEqual(t, time.Since(began), 7*time.Second)
		assert.EqualValues(t, 3, sent.Load())
	})
}

func TestBusyAndSilentServersAreRetried(t *testing.T) {
	t.Parallel()
	busy := http.Header{"Retry-After": {"30"}, "Content-Type": {"application/json"}}
	for name, c := range map[string]struct {
		method string
		first  []int // statuses before the success; 0 means that there is no response
	}{
		"Busy":   {http.MethodPatch, []int{http.StatusTooManyRequests, http.StatusTooManyRequests, http.StatusTooManyRequests}},
		"Silent": {http.MethodGet, []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				carve, err := client.New("http://127.0.0.1:1", patience(answers(func(r *http.Request) *http.Response {
					status := http.StatusOK
					if len(c.first) > 0 {
						status, c.first = c.first[0], c.first[1:]
					}
					if status == 0 {
						<-r.Context().Done()
						return nil
					}
					return &http.Response{StatusCode: status, Header: busy, Body: io.NopCloser(strings.NewReader("{}"))}
				}))...)
				require.NoError(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), defaultTimeout)
				defer cancel()
				_, err = (&api{carve: carve}).call(ctx, c.method, "/v1/projects/team-a/claims/web", `"r"`, document{})
				require.NoError(t, err)
			})
		})
	}
}

// answers is a transport that calls a function. If the function returns nil, the context has ended.
type answers func(r *http.Request) *http.Response

// RoundTrip implements [http.RoundTripper].
func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	if resp := a(r); resp != nil {
		return resp, nil
	}
	return nil, r.Context().Err()
}
