package client_test

import (
	"context"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

var contract = sync.OnceValues(func() (*openapi3.T, error) { return openapi3.NewLoader().LoadFromFile("../openapi.yaml") })

// operations returns the contract's operations with a method, by ID. One result has the operations with a parameter, the other result has the rest.
func operations(t *testing.T, method, parameter string) (with, without map[string]string) {
	t.Helper()
	doc, err := contract()
	require.NoError(t, err)
	with, without = map[string]string{}, map[string]string{}
	for path, item := range doc.Paths.Map() {
		op := item.GetOperation(method)
		if op == nil {
			continue
		}
		if slices.ContainsFunc(op.Parameters, func(p *openapi3.ParameterRef) bool { return p.Value.Name == parameter }) {
			with[op.OperationID] = path
		} else {
			without[op.OperationID] = path
		}
	}
	require.NotEmpty(t, with)
	return with, without
}

func TestTheClientHasTheVersionOfTheContract(t *testing.T) {
	t.Parallel()
	doc, err := contract()
	require.NoError(t, err)
	require.Equal(t, client.ContractVersion, doc.Info.Version)
}

func TestEveryProblemCodeHasAConstantAndAPage(t *testing.T) {
	t.Parallel()
	doc, err := contract()
	require.NoError(t, err)
	pages, err := filepath.Glob("../docs/problems/*.md")
	require.NoError(t, err)
	var said, told []string
	for _, value := range doc.Components.Schemas["ProblemCode"].Value.Enum {
		code, ok := value.(string)
		require.True(t, ok)
		said = append(said, code)
		require.True(t, client.ProblemCode(code).Valid(), "%s has no constant: make generate", code)
	}
	for _, page := range pages {
		told = append(told, strings.TrimSuffix(filepath.Base(page), ".md"))
	}
	require.ElementsMatch(t, said, told)
}

func TestEverySuccessStatusOfTheContractIsAccepted(t *testing.T) {
	t.Parallel()
	doc, err := contract()
	require.NoError(t, err)
	var status int
	var mediaType string
	c := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		if mediaType != "" {
			w.Header().Set("Content-Type", mediaType)
		}
		w.WriteHeader(status)
		if mediaType != "" {
			_, err := w.Write([]byte("{}"))
			assert.NoError(t, err)
		}
	})
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			for code, response := range op.Responses.Map() {
				if !strings.HasPrefix(code, "2") {
					continue
				}
				status, err = strconv.Atoi(code)
				require.NoError(t, err)
				mediaType = ""
				if len(response.Value.Content) > 0 {
					mediaType = "application/json"
				}
				req, err := http.NewRequestWithContext(t.Context(), method, c.Raw.Server+strings.TrimPrefix(path, "/"), http.NoBody)
				require.NoError(t, err)
				resp, err := c.Raw.Client.Do(req)
				require.NoError(t, err, "%s %s", op.OperationID, code)
				require.Equal(t, status, resp.StatusCode)
				require.NoError(t, resp.Body.Close())
			}
		}
	}
}

func TestEveryPostThatTakesAnIdempotencyKeyGetsOne(t *testing.T) {
	t.Parallel()
	with, without := operations(t, http.MethodPost, "Idempotency-Key")
	for id := range with {
		require.Contains(t, posts, id, "the test of lost answers lacks an operation")
	}
	require.Len(t, posts, len(with))
	require.Equal(t, map[string]string{
		"explainClaim": "/v1/projects/{project}/claim-explanations",

		"retryWebhookDelivery": "/v1/projects/{project}/webhooks/{webhook}/deliveries/{delivery}/retries",
		"releaseClaims":        "/v1/projects/{project}/claim-releases",
		"renewConsumers":       "/v1/projects/{project}/consumer-renewals",
		"confirmExpiry":        "/v1/projects/{project}/realms/{realm}/expiry-confirmations",
	}, without,
		"what takes no key is known by its path: key.go")
	var key []string
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		key = r.Header.Values("Idempotency-Key")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}"))
	})
	_, err := c.ExplainClaim(t.Context(), "team-a", client.ClaimExplanationRequest{})
	require.NoError(t, err)
	require.Empty(t, key)
}

// lists iterates over every list of the contract.
var lists = map[string]func(ctx context.Context, c *client.Carve) error{
	"listProjects": func(ctx context.Context, c *client.Carve) error { return end(c.Projects(ctx)) },
	"listMembers":  func(ctx context.Context, c *client.Carve) error { return end(c.Members(ctx, "team-a")) },
	"listApiKeys":  func(ctx context.Context, c *client.Carve) error { return end(c.APIKeys(ctx, "team-a")) },
	"listQuotas":   func(ctx context.Context, c *client.Carve) error { return end(c.Quotas(ctx, "team-a")) },
	"listSpaces":   func(ctx context.Context, c *client.Carve) error { return end(c.Spaces(ctx, "team-a")) },
	"listSpaceGrants": func(ctx context.Context, c *client.Carve) error {
		return end(c.SpaceGrants(ctx, "team-a", "default"))
	},
	"listPools":      func(ctx context.Context, c *client.Carve) error { return end(c.Pools(ctx, "team-a")) },
	"listPoolGrants": func(ctx context.Context, c *client.Carve) error { return end(c.PoolGrants(ctx, "team-a", "prod")) },
	"getPoolFree":    func(ctx context.Context, c *client.Carve) error { return end(c.FreeBlocks(ctx, "team-a", "prod")) },
	"listClasses":    func(ctx context.Context, c *client.Carve) error { return end(c.Classes(ctx, "team-a")) },
	"listScopePools": func(ctx context.Context, c *client.Carve) error {
		return end(c.ScopePools(ctx, "team-a", "standard"))
	},
	"listClaims":      func(ctx context.Context, c *client.Carve) error { return end(c.Claims(ctx, "team-a")) },
	"listAllocations": func(ctx context.Context, c *client.Carve) error { return end(c.Allocations(ctx, "team-a")) },
	"listConsumers": func(ctx context.Context, c *client.Carve) error {
		return end(c.Consumers(ctx, "team-a", "default"))
	},
	"listAlertRules": func(ctx context.Context, c *client.Carve) error {
		return end(c.AlertRules(ctx, "team-a"))
	},
	"listAlerts": func(ctx context.Context, c *client.Carve) error {
		return end(c.Alerts(ctx, "team-a"))
	},
	"listWebhooks": func(ctx context.Context, c *client.Carve) error {
		return end(c.Webhooks(ctx, "team-a"))
	},
	"listWebhookDeliveries": func(ctx context.Context, c *client.Carve) error {
		return end(c.WebhookDeliveries(ctx, "team-a", "inventory"))
	},
	"listClaimConsumers": func(ctx context.Context, c *client.Carve) error {
		return end(c.ClaimConsumers(ctx, "team-a", "web"))
	},
	"listAuditEvents": func(ctx context.Context, c *client.Carve) error { return end(c.AuditEvents(ctx, "team-a")) },
	"getHistory": func(ctx context.Context, c *client.Carve) error {
		return end(c.HistoryEntries(ctx, "team-a", client.GetHistoryParams{Address: "10.20.0.1"}))
	},
}

func end[T any](seq func(yield func(T, error) bool)) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestEveryListOperationHasAnIterator(t *testing.T) {
	t.Parallel()
	with, _ := operations(t, http.MethodGet, "cursor")
	for id := range with {
		require.Contains(t, lists, id)
	}
	require.Len(t, lists, len(with))
	w := setup(t)
	_, err := w.CreateClass(t.Context(), "team-a", client.IPClassCreate{
		Metadata: client.CreateMetadata{Name: "standard"}, Spec: client.IPClassSpec{IPFamily: client.IPFamilyIPv4},
	})
	require.NoError(t, err)
	_, err = w.Claim(t.Context(), "team-a", "web", client.IPClaimSpec{PoolRef: &client.Ref{Name: "prod"}, PrefixLength: 32})
	require.NoError(t, err)
	_, err = w.CreateWebhook(t.Context(), "team-a", client.WebhookCreate{
		Metadata: client.CreateMetadata{Name: "inventory"}, Spec: client.WebhookSpec{URL: "https://receiver.example/"},
	})
	require.NoError(t, err)
	w.requests()
	for id, list := range lists {
		w.lose(1, false) // each list sends its request twice, because the first response is lost
		require.NoError(t, list(t.Context(), w.Carve), id)
		requests := w.requests()
		require.GreaterOrEqual(t, len(requests), 2, id)
		path := strings.NewReplacer(
			"{project}", "team-a", "{space}", "default", "{pool}", "prod", "{className}", "standard", "{realm}", "default", "{claim}", "web", "{webhook}", "inventory",
		).Replace(with[id])
		for _, r := range requests {
			require.Equal(t, path, r.URL.Path, id)
		}
	}
	require.Len(t, all(t, w.Regions(t.Context())), 1)
}

// A program that imports the client must not import packages of the server. It must also import only few other modules.
func TestClientImportsNoServerPackage(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	require.NoError(t, err)
	require.Equal(t, []string{
		"github.com/apapsch/go-jsonmerge/v2", "github.com/carve-ipam/carve/client", "github.com/google/uuid",
		"github.com/oapi-codegen/runtime", "github.com/oapi-codegen/runtime/types",
	}, slices.Sorted(slices.Values(strings.Fields(string(out)))))
}
