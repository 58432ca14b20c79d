package client_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// claimThroughLoss creates a claim while the first responses are lost. It returns the block that the client got and the blocks in the lost responses.
// rows is the number of claims on the server.
func claimThroughLoss(t *testing.T, losses int, midway bool, opts ...client.Option) (got string, lost []string, rows int) {
	t.Helper()
	w := setup(t, opts...)
	w.lose(losses, midway)
	answer, err := w.CreateClaim(t.Context(), "team-a", client.IPClaimCreate{
		Metadata: client.CreateMetadata{GenerateName: "node-"}, Spec: fromProd(24),
	})
	require.NoError(t, err)
	require.Len(t, w.requests(), losses+1)
	for _, body := range w.lost {
		var claim client.IPClaim
		require.NoError(t, json.Unmarshal(body, &claim))
		lost = append(lost, claim.Status.AllocatedCIDR)
	}
	return answer.Status.AllocatedCIDR, lost, len(w.claims(t))
}

func TestRetryAfterALostResponseReturnsTheSameBlock(t *testing.T) {
	t.Parallel()
	for name, midway := range map[string]bool{"CutBeforeItsFirstByte": false, "CutInItsMiddle": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, lost, rows := claimThroughLoss(t, 3, midway, client.WithHTTP(&http.Client{Transport: oneEach}))
			require.Equal(t, []string{got, got, got}, lost)
			require.Equal(t, 1, rows)
		})
	}
}

// rekey is a broken transport that sends a new key with each attempt. Each attempt uses its own connection. On a reused connection, net/http itself
// resends a request that has an Idempotency-Key, and it uses the same key.
type rekey struct{}

var oneEach = &http.Transport{DisableKeepAlives: true}

func (rekey) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	if req.Method == http.MethodPost {
		req.Header.Set("Idempotency-Key", rand.Text())
	}
	return oneEach.RoundTrip(req)
}

// This test proves that the test above can fail. With rekey, each attempt creates a claim.
func TestRetryWithANewKeyClaimsASecondBlock(t *testing.T) {
	t.Parallel()
	got, lost, rows := claimThroughLoss(t, 1, false, client.WithHTTP(&http.Client{Transport: rekey{}}))
	require.Equal(t, 2, rows)
	require.NotContains(t, lost, got)
}

// posts has every operation that takes a key. A test of the contract fails if an operation is missing here.
var posts = map[string]func(ctx context.Context, c *client.Carve) (*http.Response, error){
	"createProject": func(ctx context.Context, c *client.Carve) (*http.Response, error) {
		return c.Raw.CreateProject(ctx, nil, client.ProjectCreate{Metadata: client.CreateMetadata{GenerateName: "p-"}})
	},
	"createSpace": func(ctx context.Context, c *client.Carve) (*http.Response, error) {
		return c.Raw.CreateSpace(ctx, "team-a", nil, client.SpaceCreate{Metadata: client.CreateMetadata{GenerateName: "s-"}})
	},
	"createPool": func(ctx context.Context, c *client.Carve) (*http.Response, error) {
		return c.Raw.CreatePool(ctx, "team-a", nil, client.IPPoolCreate{
			Metadata: client.CreateMetadata{GenerateName: "p-"}, Spec: client.IPPoolSpec{CIDR: "10.30.0.0/16"},
		})
	},
	"createClass": func(ctx context.Context, c *client.Carve) (*http.Response, error) {
		return c.Raw.CreateClass(ctx, "team-a", nil, client.IPClassCreate{
			Metadata: client.CreateMetadata{GenerateName: "c-"}, Spec: client.IPClassSpec{IPFamily: client.IPFamilyIPv4},
		})
	},
	"createApiKey": func(ctx context.Context, c *client.Carve) (*http.Response, error) {
		return c.Raw.CreateAPIKey(ctx, "team-a", nil, client.APIKeyCreate{
			Metadata: client.CreateMetadata{GenerateName: "k-"}, Spec: client.APIKeySpec{Role: client.RoleViewer},
		})
	},
	"createAlertRule": func(ctx context.Context, c *client.Carve) (*http.Response, error) {
		return c.Raw.CreateAlertRule(ctx, "team-a", nil, client.AlertRuleCreate{
			Metadata: client.CreateMetadata{GenerateName: "r-"}, Spec: client.AlertRuleSpec{About: client.AlertRuleAboutPools, Percent: 80},
		})
	},
	"createWebhook": func(ctx context.Context, c *client.Carve) (*http.Response, error) {
		return c.Raw.CreateWebhook(ctx, "team-a", nil, client.WebhookCreate{
			Metadata: client.CreateMetadata{GenerateName: "w-"}, Spec: client.WebhookSpec{URL: "https://receiver.example/"},
		})
	},
	"createClaim": func(ctx context.Context, c *client.Carve) (*http.Response, error) {
		return c.Raw.CreateClaim(ctx, "team-a", nil, client.IPClaimCreate{
			Metadata: client.CreateMetadata{GenerateName: "n-"}, Spec: fromProd(26),
		})
	},
	"createClaimBatch": func(ctx context.Context, c *client.Carve) (*http.Response, error) {
		return c.Raw.CreateClaimBatch(ctx, "team-a", nil, client.ClaimBatchCreate{
			Claims: []client.IPClaimCreate{
				{Metadata: client.CreateMetadata{GenerateName: "n-"}, Spec: fromProd(26)},
				{Metadata: client.CreateMetadata{GenerateName: "n-"}, Spec: fromProd(27)},
			},
		})
	},
}

func TestRetryOfEveryPostReplaysTheLostResponse(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for name, post := range posts { // one after the other, because they share the proxy that loses responses
		t.Run(name, func(t *testing.T) {
			w.lose(1, false)
			answer, err := post(t.Context(), w.Carve)
			require.NoError(t, err)
			require.Equal(t, http.StatusCreated, answer.StatusCode)
			require.NoError(t, answer.Body.Close())
			require.Equal(t, "true", answer.Header.Get("Idempotency-Replayed"))
			requests := w.requests()
			require.Len(t, requests, 2)
			require.NotEmpty(t, requests[0].Header.Get("Idempotency-Key"))
			require.Equal(t, requests[0].Header, requests[1].Header)
		})
	}
}

func TestCallersIdempotencyKeyIsSent(t *testing.T) {
	t.Parallel()
	w := setup(t)
	key := client.IdempotencyKey("deploy-42")
	body := client.IPClaimCreate{Metadata: client.CreateMetadata{GenerateName: "n-"}, Spec: fromProd(26)}
	first, err := w.CreateClaim(t.Context(), "team-a", body, client.CreateClaimParams{IdempotencyKey: &key})
	require.NoError(t, err)
	second, err := w.CreateClaim(t.Context(), "team-a", body, client.CreateClaimParams{IdempotencyKey: &key})
	require.NoError(t, err)
	require.Equal(t, first.Metadata.UID, second.Metadata.UID)
	third, err := w.CreateClaim(t.Context(), "team-a", body)
	require.NoError(t, err)
	require.NotEqual(t, first.Metadata.UID, third.Metadata.UID, "each call has a key of its own")
}

func TestClaimAndReleaseSucceedDespiteLostResponses(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.lose(1, false)
	block, err := w.Claim(t.Context(), "team-a", "web", fromProd(24))
	require.NoError(t, err)
	require.Equal(t, 24, block.Bits())
	require.Len(t, w.requests(), 2)
	again, err := w.Claim(t.Context(), "team-a", "web", fromProd(24))
	require.NoError(t, err)
	require.Equal(t, block, again, "the name is the key")
	require.Len(t, w.claims(t), 1)

	w.lose(1, false, http.MethodDelete)
	require.NoError(t, w.Release(t.Context(), "team-a", "web"))
	require.Len(t, w.requests(), 3, "a look, a deletion whose answer was lost, and the deletion again")
	require.Empty(t, w.claims(t))
	require.True(t, client.IsNotFound(w.Release(t.Context(), "team-a", "web")))
}

// The client cannot retry some DELETE requests safely. The error of such a request reports that the server may have carried it out.
func TestLostDeleteWithoutARevisionIsReportedAsPossiblyDone(t *testing.T) {
	t.Parallel()
	w := setup(t)
	_, err := w.Claim(t.Context(), "team-a", "web", fromProd(24))
	require.NoError(t, err)
	w.lose(1, false)
	err = w.DeleteClaim(t.Context(), "team-a", "web")
	require.Error(t, err)
	require.True(t, client.MayBeDone(err), err)
	require.Len(t, w.requests(), 1, "it would delete what somebody made under that name meanwhile")
}
