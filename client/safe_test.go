package client

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

const claims = "/v1/projects/team-a/claims"

// The table lists requests and outcomes, and whether the client sends the request again.
func TestOnlySafeRequestsAreRetried(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		method string
		path   string
		header []string
		first  any
		sent   int
		open   bool // the server may have carried out the request
	}{
		{"GetAfterACut", "GET", claims, nil, errCut, 2, false},
		{"PostWithItsKeyAfterACut", "POST", claims, []string{keyHeader, "k"}, errCut, 2, false},
		{"PostWithoutAKeyAfterACut", "POST", claims, nil, errCut, 1, true},
		{"PostWithoutAKeyThatNeverLeft", "POST", claims, nil, errRefused, 1, false},
		{"ExplanationAfterACut", "POST", "/v1/projects/team-a/claim-explanations", nil, errCut, 2, false},
		{"AReleaseOfManyAfterACut", "POST", "/v1/projects/team-a/claim-releases", nil, errCut, 2, false},
		{"AReleaseOfManyThatNeverLeft", "POST", "/v1/projects/team-a/claim-releases", nil, errRefused, 2, false},
		{"AReleaseOfManyPastItsDeadline", "POST", "/v1/projects/team-a/claim-releases", nil, ProblemCodeDeadline, 1, true},
		{"ADryReleaseOfManyPastItsDeadline", "POST", "/v1/projects/team-a/claim-releases?dryRun=true", nil, ProblemCodeDeadline, 1, false},
		{"ARenewalPastItsDeadline", "POST", "/v1/projects/team-a/consumer-renewals", nil, ProblemCodeDeadline, 1, true},
		{"AConfirmationPastItsDeadline", "POST", "/v1/projects/team-a/realms/default/expiry-confirmations", nil, ProblemCodeDeadline, 1, true},
		{"ADeadLetterSentAgainPastItsDeadline", "POST", "/v1/projects/team-a/webhooks/w/deliveries/1/retries", nil, ProblemCodeDeadline, 1, true},
		{"ExplanationPastItsDeadline", "POST", "/v1/projects/team-a/claim-explanations", nil, ProblemCodeDeadline, 1, false},
		{"PutAfterACut", "PUT", claims + "/web", nil, errCut, 2, false},
		{"PutOfARevisionAfterACut", "PUT", claims + "/web", []string{"If-Match", `"r"`}, errCut, 1, true},
		{"PutThatCreatesOnlyAfterACut", "PUT", claims + "/web", []string{"If-None-Match", "*"}, errCut, 1, true},
		{"PutOfARevisionThatNeverLeft", "PUT", claims + "/web", []string{"If-Match", `"r"`}, errRefused, 2, false},
		{"DeleteAfterACut", "DELETE", claims + "/web", nil, errCut, 1, true},
		{"DeleteOfAnyRevisionAfterACut", "DELETE", claims + "/web", []string{"If-Match", "*"}, errCut, 1, true},
		{"DeleteOfARevisionAfterACut", "DELETE", claims + "/web", []string{"If-Match", `"r"`}, errCut, 2, false},
		{"DeleteThatTheServerWasTooBusyFor", "DELETE", claims + "/web", nil, ProblemCodeUnavailable, 2, false},
		{"DeleteOfUnknownOutcome", "DELETE", claims + "/web", nil, ProblemCodeOutcomeUnknown, 1, true},
		{"DeleteThatAProxyLost", "DELETE", claims + "/web", nil, 503, 1, true},
		{"DryDeleteAfterACut", "DELETE", claims + "/web?dryRun=true", nil, errCut, 2, false},
		{"PatchOfARevisionAfterACut", "PATCH", claims + "/web", []string{"If-Match", `"r"`}, errCut, 1, true},
		{"PatchOfAnyRevisionAfterACut", "PATCH", claims + "/web", []string{"If-Match", "*"}, errCut, 2, false},
		{"PostOfUnknownOutcome", "POST", claims, []string{keyHeader, "k"}, ProblemCodeOutcomeUnknown, 2, false},
		{"PostWithContention", "POST", claims, []string{keyHeader, "k"}, ProblemCodeContention, 2, false},
		{"PostOverTheLimit", "POST", claims, []string{keyHeader, "k"}, ProblemCodeRateLimited, 2, false},
		{"PostThatAProxyLost", "POST", claims, []string{keyHeader, "k"}, 502, 2, false},
		{"PostThatWasRefused", "POST", claims, []string{keyHeader, "k"}, ProblemCodePoolExhausted, 1, false},
		{"PostPastItsDeadline", "POST", claims, []string{keyHeader, "k"}, ProblemCodeDeadline, 1, true},
		{"PostThatMetABug", "POST", claims, []string{keyHeader, "k"}, ProblemCodeInternal, 1, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &script{replies: []any{tc.first}}
				req := request(t, tc.method, tc.path, tc.header...)
				s.replies = append(s.replies, success(req))
				_, end := Repeater{Next: s, Policy: DefaultRetry()}.do(req)
				require.Len(t, s.sent, tc.sent)
				require.Equal(t, tc.sent, end.attempts)
				require.Equal(t, tc.open, end.mayBeDone)
				for i := range s.sent {
					require.Equal(t, "body", s.bodies[i], "each attempt is the whole request")
					require.Equal(t, s.sent[0].Header, s.sent[i].Header)
				}
			})
		})
	}
}

func TestLostAttemptKeepsTheOutcomeOpen(t *testing.T) {
	t.Parallel()
	key, revision := []string{keyHeader, "k"}, []string{"If-Match", `"r"`}
	releases, questions := "/v1/projects/team-a/claim-releases", "/v1/projects/team-a/claim-explanations"
	for _, tc := range []struct {
		name    string
		method  string
		path    string
		header  []string
		replies []any
		status  int // 0 means no response
		open    bool
	}{
		{"LostPostThenNoConnection", "POST", claims, key, []any{errCut, errRefused, errRefused, errRefused, errRefused}, 0, true},
		{"PostThatNeverLeft", "POST", claims, key, []any{errRefused, errRefused, errRefused, errRefused, errRefused}, 0, false},
		{"LostPostThenBusy", "POST", claims, key, []any{errCut, ProblemCodeUnavailable, ProblemCodeUnavailable, ProblemCodeUnavailable, ProblemCodeUnavailable}, 503, true},
		{"LostPostThenRefused", "POST", claims, key, []any{errCut, ProblemCodePoolExhausted}, 409, false},
		{"LostReleaseThenNoConnection", "POST", releases, nil, []any{errCut, errRefused, errRefused, errRefused, errRefused}, 0, true},
		{"LostReleaseThenRefused", "POST", releases, nil, []any{errCut, ProblemCodePreconditionFailed}, 412, true},
		{"LostReleaseThenDone", "POST", releases, nil, []any{errCut, answer(200, "application/json", "{}")}, 200, false},
		{"ReleaseThatNeverLeftThenRefused", "POST", releases, nil, []any{errRefused, ProblemCodePreconditionFailed}, 412, false},
		{"LostExplanation", "POST", questions, nil, []any{errCut, errCut, errCut, errCut, errCut}, 0, false},
		{"LostDeleteThenNotFound", "DELETE", claims, revision, []any{errCut, ProblemCodeNotFound}, 204, false},
		{"LostDeleteThenNotFoundFromAProxy", "DELETE", claims, revision, []any{errCut, 404}, 404, true},
		{"LostDeleteThenAnotherRevision", "DELETE", claims, revision, []any{errCut, ProblemCodePreconditionFailed}, 412, true},
		{"LostPostThenUnauthenticated", "POST", claims, key, []any{errCut, ProblemCodeUnauthenticated}, 401, true},
		{"LostPostThenDenied", "POST", claims, key, []any{errCut, ProblemCodePermissionDenied}, 403, true},
		{"LostPostThenNoAccessToTheProject", "POST", claims, key, []any{errCut, ProblemCodeNotFound}, 404, true},
		{"LostPostThenAProxysLogin", "POST", claims, key, []any{errCut, answer(200, "text/html", "<h1>Log in</h1>")}, 200, true},
		{"LostPostThenAProxysRedirect", "POST", claims, key, []any{errCut, 302}, 302, true},
		{"LostPostThenAProxysRefusal", "POST", claims, key, []any{errCut, 403}, 403, true},
		{"LostPutThenAProxysRefusal", "PUT", claims + "/web", nil, []any{errCut, 413}, 413, true},
		{"LostPostThenDone", "POST", claims, key, []any{errCut, answer(201, "application/json", "{}")}, 201, false},
		{"PostThatAProxyRefused", "POST", claims, key, []any{403}, 403, false},
		{"PostThatAProxyAnswered", "POST", claims, key, []any{answer(200, "text/html", "<h1>Log in</h1>")}, 200, true},
		{"PostThatAProxyFailed", "POST", claims, key, []any{500}, 500, true},
		{"DeleteOfAMissingObject", "DELETE", claims, revision, []any{ProblemCodeUnavailable, ProblemCodeNotFound}, 404, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &script{replies: tc.replies}
				resp, end := Repeater{Next: s, Policy: DefaultRetry()}.do(request(t, tc.method, tc.path, tc.header...))
				require.Empty(t, s.replies)
				require.Equal(t, tc.open, end.mayBeDone)
				if tc.status == 0 {
					require.Error(t, end.err)
					return
				}
				require.Equal(t, tc.status, resp.StatusCode)
			})
		})
	}
}
