package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/alloc/pools"
)

// Each operation that changes something must write exactly one record, with the subject, the origin, the operation, and the state before and after.
// Other operations must write none.
func TestTrailOfEveryOperation(t *testing.T) {
	t.Parallel()
	w, log := setupLogged(t)
	s := furnish(t, w)
	admin := decode[client.Whoami](t, s.ok(t, s.do(t, http.MethodGet, "/v1/whoami", nil))).Subject
	tokens := []string{w.token}
	s.neverChanges(t, func() { tokens = append(tokens, s.trailOfEach(t, admin)...) })
	s.holdsNoSecret(t, keptTokens(t, s, tokens)...)
	for _, token := range tokens {
		require.NotContains(t, log.String(), token[len(token)-52:], "the log")
	}
	require.NotEmpty(t, log.String(), "it was written to")
}

// trailOfEach runs each operation and checks its record. It returns the tokens of the keys that the operations made.
func (s *stage) trailOfEach(t *testing.T, admin string) (tokens []string) {
	t.Helper()
	for _, each := range s.specimens(t) {
		t.Run(each.String(), func(t *testing.T) {
			if !each.op.changes() {
				require.Empty(t, s.newEvents(t, func() { s.ok(t, each.send(t, s.caller)) }), "of a read")
				return
			}
			k := key("trail-" + each.String())
			options := []option{probe}
			if each.op.creates() {
				options = append(options, k)
			}
			require.Empty(t, s.newEvents(t, func() { each.send(t, s.caller, append(options, dryRun)...) }), "of a dry run")
			var a answer
			made := s.newEvents(t, func() { a = each.send(t, s.caller, options...) })
			require.True(t, a.ok(), "%d %s", a.status, a.body)
			if each.op.id == "createApiKey" {
				tokens = append(tokens, decode[client.APIKey](t, a).Token)
			}
			switch each.op.id {
			case "releaseClaims":
				require.Empty(t, made, "nothing was to be released")
				return
			case "renewConsumers":
				require.Empty(t, made, "a renewal alone changes nothing that is recorded")
				return
			case "attachConsumer", "detachConsumer", "putConsumer", "endConsumer", "confirmExpiry", "retryWebhookDelivery", "deleteWebhookDelivery": // other tests check the records of these operations, because the status does not determine them
				require.NotEmpty(t, made)
				return
			}
			s.tells(t, each, a, made, admin)
			switch each.op.method {
			case http.MethodPost:
				require.Empty(t, s.newEvents(t, func() {
					require.Equal(t, "true", each.send(t, s.caller, options...).header.Get("Idempotency-Replayed"))
				}), "of a repeat")
			case http.MethodPut, http.MethodPatch:
				require.Empty(t, s.newEvents(t, func() { s.ok(t, each.send(t, s.caller)) }), "of what changes nothing")
			}
		})
	}
	return tokens
}

// keptTokens returns the tokens of existing keys.
func keptTokens(t testing.TB, s *stage, tokens []string) []string {
	t.Helper()
	return slices.DeleteFunc(tokens, func(token string) bool {
		return s.as(token).do(t, http.MethodGet, "/v1/whoami", nil).status != http.StatusOK
	})
}

// tells requires that the records match the response to a specimen.
func (s *stage) tells(t testing.TB, each specimen, a answer, made []event, subject string) {
	t.Helper()
	made = s.withoutKeeper(t, each, made)
	want := 1
	if claims, isBatch := each.body["claims"].([]any); isBatch {
		want = len(claims) // each claim has its own record
	}
	require.Len(t, made, want)
	project := strings.Split(each.path, "/")
	trail := "platform"
	if slices.Contains(each.op.template, "{project}") && each.op.id != "deleteProject" {
		trail = project[3]
	}
	names := make([]string, len(made))
	for i, e := range made {
		names[i] = e.Name
		require.Equal(t, []string{trail, subject, "api-key", "probe", each.op.id, each.op.resourceKind(t), "ok"},
			[]string{e.Project, e.Subject, e.Method, e.RequestID, e.Operation, e.Kind, e.Outcome})
		require.Equal(t, "127.0.0.1", e.Remote)
		switch a.status {
		case http.StatusNoContent:
			require.NotEmpty(t, e.Before)
			require.Nil(t, e.After)
		case http.StatusCreated:
			require.Nil(t, e.Before)
			require.NotNil(t, e.After)
		default:
			require.NotNil(t, e.Before)
			require.NotNil(t, e.After)
			require.NotEqual(t, e.Before, e.After)
		}
	}
	require.ElementsMatch(t, resourceNames(t, each, a), names)
}

// withoutKeeper leaves out the record of the pool that the first claim of a scope carves. That record is in the audit trail of the pool's owner and
// names no caller.
func (s *stage) withoutKeeper(t testing.TB, each specimen, made []event) []event {
	t.Helper()
	first := each.String() == "createClaim/withScope" || each.op.id == "putScopePool"
	kept := slices.DeleteFunc(slices.Clone(made), func(e event) bool {
		if e.Subject != pools.ScopeKeeper {
			return false
		}
		require.True(t, first, "%s carved a pool", each)
		require.Equal(t, []string{s.names["project"], "IPPool", "ok", "", "", "", ""}, []string{e.Project, e.Kind, e.Outcome, e.Method, e.Remote, e.RequestID, e.Operation})
		require.Nil(t, e.Before)
		require.NotContains(t, fmt.Sprint(e.After), "cluster:", "the scope is the claim's")
		return true
	})
	if first {
		require.Len(t, made, len(kept)+1)
	}
	return kept
}

// resourceNames returns the names of the objects of an operation: the created objects, or the last name in its path.
func resourceNames(t testing.TB, each specimen, a answer) (names []string) {
	t.Helper()
	if each.body["claims"] != nil {
		for _, claim := range decode[client.ClaimBatch](t, a).Claims {
			names = append(names, claim.Metadata.Name)
		}
		return names
	}
	path := strings.Split(each.path, "/")
	if slices.Contains(each.op.template, "grants") {
		return []string{path[5]} // the granted object
	}
	if each.op.creates() || each.op.id == "putScopePool" { // the scope is the name of its pool
		return []string{decode[client.IPClaim](t, a).Metadata.Name} // each resource has its name there
	}
	return []string{path[len(path)-1]}
}

// A record contains exactly the changed fields, before and after.
func TestTrailRecordsOnlyChangedFields(t *testing.T) {
	t.Parallel()
	w := setup(t)
	one := func(f func()) event {
		t.Helper()
		made := w.newEvents(t, f)
		require.Len(t, made, 1)
		return made[0]
	}
	e := one(func() { w.pool(t, "p", obj{"cidr": "10.0.0.0/16", "description": "before"}) })
	require.Contains(t, fmt.Sprint(e.After), "10.0.0.0/16")
	e = one(func() {
		w.ok(t, w.do(t, http.MethodPatch, at("pools", "p"), obj{"spec": obj{"description": "after"}}, ifMatch("*")))
	})
	require.Contains(t, fmt.Sprint(e.Before), "before")
	require.Contains(t, fmt.Sprint(e.After), "after")
	require.NotContains(t, fmt.Sprint(e.Before, e.After), "10.0.0.0", "did not change")
	e = one(func() { w.claim(t, "c", from("p", 24)) })
	require.Contains(t, fmt.Sprint(e.After), "10.0.0.0/24", "the block that it got")
	e = one(func() { w.release(t, "c") })
	require.Contains(t, fmt.Sprint(e.Before), "10.0.0.0/24")
	e = one(func() {
		w.created(t, w.do(t, http.MethodPut, at("members", "corp:alice"), obj{"spec": obj{"role": "viewer"}}))
	})
	require.Contains(t, fmt.Sprint(e.After), "viewer")
	e = one(func() {
		w.ok(t, w.do(t, http.MethodPut, at("members", "corp:alice"), obj{"spec": obj{"role": "admin"}}))
	})
	require.Contains(t, fmt.Sprint(e.Before), "viewer")
	require.Contains(t, fmt.Sprint(e.After), "admin")
	t.Run("OtherRefusalsLeaveNoRecord", func(t *testing.T) {
		require.Empty(t, w.newEvents(t, func() {
			w.refused(t, w.postClaim(t, "c", from("p", 8)), "never_satisfiable")
			w.refused(t, w.postClaim(t, "c", from("nothing", 24)), "not_found")
			w.refused(t, w.do(t, http.MethodPost, at("pools"), named("q", obj{"cidr": "10.0.0.0/8"})), "overlap")
			w.refused(t, w.do(t, http.MethodPost, at("pools"), []byte("{")), "invalid_argument")
		}))
	})
}

func TestListOfEvents(t *testing.T) {
	t.Parallel()
	town := setupTown(t)
	p := town.north
	c := town.as(p.admin().token) // the admin sees records of attempts by strangers
	for i := range 5 {
		c.created(t, p.take(t, fmt.Sprint("e", i), from("default", 28)))
	}
	c.deleted(t, p.consumer().do(t, http.MethodDelete, p.at("claims", p.named("e0")), nil))
	p.by["viewer"].refused(t, p.by["viewer"].do(t, http.MethodDelete, p.at("claims", p.named("e1")), nil), "permission_denied")
	town.south.admin().refused(t, town.south.admin().do(t, http.MethodDelete, p.at("claims", p.named("e1")), nil), "not_found")
	list := func(pairs ...string) []client.AuditEvent {
		t.Helper()
		q := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			q.Set(pairs[i], pairs[i+1])
		}
		return all[client.AuditEvent](t, c, p.at("audit-events")+"?"+q.Encode())
	}
	whole := list()
	var begin, middle time.Time // by the clock of the records: the time of the first claim, and the time just after the last one
	for _, e := range whole {
		switch {
		case e.Operation == "createClaim" && e.Resource.Name == p.named("e0"):
			begin = e.At
		case e.Operation == "createClaim" && e.Resource.Name == p.named("e4"):
			middle = e.At.Add(time.Microsecond)
		}
	}
	stored := 0
	for _, e := range town.events(t) {
		if e.Project == "north" {
			stored++
		}
	}
	require.Len(t, whole, stored)
	t.Run("IsNewestFirst", func(t *testing.T) {
		require.True(t, slices.IsSortedFunc(whole, func(a, b client.AuditEvent) int { return b.At.Compare(a.At) }))
		require.True(t, slices.IsSortedFunc(whole, func(a, b client.AuditEvent) int { return strings.Compare(b.ID, a.ID) }))
	})
	t.Run("HasAStrangersAttempt", func(t *testing.T) {
		require.Equal(t, "not_found", whole[0].Outcome)
		require.Equal(t, "key:south/"+town.south.named("admin"), whole[0].Subject)
		require.Equal(t, client.AuditResource{Kind: "IPClaim", Name: p.named("e1")}, whole[0].Resource)
	})
	consumer := "key:north/" + p.named("consumer")
	for name, tc := range map[string]struct {
		filter []string
		want   int
	}{
		"Subject":          {[]string{"subject", consumer}, 6},
		"SubjectNobody":    {[]string{"subject", "key:north/nobody"}, 0},
		"Operation":        {[]string{"operation", "deleteClaim", "since", begin.UTC().Format(time.RFC3339Nano)}, 3},
		"Kind":             {[]string{"resourceKind", "IPClaim", "subject", consumer}, 6},
		"Name":             {[]string{"resourceName", p.named("e0")}, 2},
		"KindAndName":      {[]string{"resourceKind", "IPPool", "resourceName", p.named("e0")}, 0},
		"Denied":           {[]string{"outcome", "permission_denied"}, 1},
		"Since":            {[]string{"since", begin.UTC().Format(time.RFC3339Nano)}, 8},
		"SinceTheMiddle":   {[]string{"since", middle.UTC().Format(time.RFC3339Nano)}, 3},
		"Between":          {[]string{"since", begin.UTC().Format(time.RFC3339Nano), "until", middle.UTC().Format(time.RFC3339Nano)}, 5},
		"UntilTheMiddle":   {[]string{"until", middle.UTC().Format(time.RFC3339Nano), "subject", consumer}, 5},
		"InAnotherZone":    {[]string{"since", begin.In(time.FixedZone("", 5*3600+1800)).Format(time.RFC3339Nano)}, 8},
		"OfNoTime":         {[]string{"since", "2999-01-01T00:00:00Z"}, 0},
		"BeforeEverything": {[]string{"until", "1999-01-01T00:00:00Z"}, 0},
		"Everything":       {[]string{"since", "1970-01-01T00:00:00Z", "until", "9999-12-31T23:59:59Z"}, len(whole)},
	} {
		t.Run(name, func(t *testing.T) { require.Len(t, list(tc.filter...), tc.want) })
	}
	t.Run("CannotBeChanged", func(t *testing.T) {
		for _, method := range []string{http.MethodDelete, http.MethodPut, http.MethodPatch, http.MethodPost} {
			for _, path := range []string{p.at("audit-events"), p.at("audit-events", whole[0].ID)} {
				a := town.do(t, method, path, nil)
				require.Contains(t, []int{http.StatusNotFound, http.StatusMethodNotAllowed}, a.status)
			}
		}
		require.Equal(t, whole, list())
	})
}
