package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/gen"
)

func TestBadParametersAreRefused(t *testing.T) {
	t.Parallel()
	cases := []struct{ promise, method, target, pointer, detail string }{
		{"RefusesAnUnknownParameter", "GET", poolsPath + "?colour=red", "query:colour", "is not a parameter of this operation; it has labelSelector, phase,"},
		{"RefusesAParameterInAnotherCase", "GET", poolsPath + "?Limit=1", "query:Limit", "is not a parameter"},
		{"RefusesAParameterOfAnotherOperation", "GET", "/v1/version?limit=1", "query:limit", "it has none."},
		{"RefusesAParameterOfAProbe", "GET", "/healthz?verbose=1", "query:verbose", "it has none."},
		{"RefusesAParameterTwice", "GET", poolsPath + "?limit=1&limit=500", "query:limit", "is given 2 times"},
		{"RefusesALimitOfZero", "GET", poolsPath + "?limit=0", "query:limit", "must be 1 to 500."},
		{"RefusesALargeLimit", "GET", poolsPath + "?limit=501", "query:limit", "must be 1 to 500."},
		{"RefusesANonnumericLimit", "GET", poolsPath + "?limit=ten", "query:limit", "must be an integer, 1 to 500."},
		{"RefusesALimitWithASign", "GET", poolsPath + "?limit=%2B5", "query:limit", "must be an integer"},
		{"RefusesAnEmptyLimit", "GET", poolsPath + "?limit=", "query:limit", "must be an integer"},
		{"RefusesAnEmptyCursor", "GET", poolsPath + "?cursor=", "query:cursor", "at least 1 character"},
		{"RefusesABadCursor", "GET", poolsPath + "?cursor=%21%21", "query:cursor", "is not a cursor of this list"},
		{"RefusesANonbooleanValue", "DELETE", poolsPath + "/p?dryRun=1", "query:dryRun", "must be true or false."},
		{"RefusesABadSelector", "GET", poolsPath + "?labelSelector=a%20b", "query:labelSelector", "is not a label selector such as"},
		{"RefusesComparisons", "GET", poolsPath + "?labelSelector=a%3E1", "query:labelSelector", "cannot compare"},
		{"RefusesALongSelector", "GET", poolsPath + "?labelSelector=" + strings.Repeat("a", 1025), "query:labelSelector", "at most 1024"},
		{"RefusesTooManyConditions", "GET", poolsPath + "?labelSelector=a" + strings.Repeat(",a", 32), "query:labelSelector", "more than 32 conditions"},
		{"RefusesInvalidUTF8", "GET", poolsPath + "?labelSelector=a%3D%FF", "query:labelSelector", "not valid UTF-8"},
		{"RefusesNUL", "GET", poolsPath + "?labelSelector=a%00", "query:labelSelector", "control characters"},
		{"RefusesABadPhase", "GET", claimsPath + "?phase=Gone", "query:phase", "must be one of Pending, Bound"},
		{"RefusesABadFamily", "GET", claimsPath + "?ipFamily=4", "query:ipFamily", "must be one of IPv4, IPv6."},
		{"RefusesHostBitsInAFilter", "GET", claimsPath + "?within=10.0.0.1/8", "query:within", "did you mean 10.0.0.0/8?"},
		{"RefusesABadAddressInAFilter", "GET", claimsPath + "?contains=10.0.0.300", "query:contains", "is not an IP address"},
		{"RefusesABadReferenceInAFilter", "GET", claimsPath + "?pool=a/b/c", "query:pool", "must be a name or project/name."},
		{"RefusesABadProject", "GET", "/v1/projects/Team_A/pools", "path:project", "must be a DNS label"},
		{"RefusesASlashInAName", "GET", poolsPath + "/a%2Fb", "path:pool", "must be a DNS label"},
		{"RefusesABadAllocation", "GET", "/v1/projects/team-a/allocations/ABC", "path:allocation", "must be a UUID in lower case."},
		{"RefusesASubjectWithASpace", "GET", members + "/a%20b", "path:subject", "must be 1 to 255 characters from"},
		{"RefusesASubjectWithASlash", "DELETE", members + "/key:team-a%2Fpipeline", "path:subject", "must be 1 to 255 characters from"},
		{"RefusesASubjectThatIsEscapedTwice", "GET", members + "/a%2540b", "path:subject", "must be 1 to 255 characters from"},
		{"RefusesASubjectWithUmlauts", "GET", members + "/%C3%BC", "path:subject", "must be 1 to 255 characters from"},
		{"RefusesASubjectOfInvalidUTF8", "GET", members + "/%FF", "path:subject", "must be 1 to 255 characters from"},
		{"RefusesASubjectWithNUL", "GET", members + "/a%00", "path:subject", "must be 1 to 255 characters from"},
		{"RefusesALongSubject", "GET", members + "/" + strings.Repeat("a", 256), "path:subject", "at most 255 characters"},
		{"RefusesABadConsumer", "PUT", poolsPath + "/p/grants/Team_B", "path:consumer", "must be the name of a project, or *"},
		{"RefusesTwoStars", "GET", "/v1/projects/team-a/spaces/lab/grants/**", "path:consumer", "must be the name of a project, or *"},
		{"RefusesAPartOfANameWithAStar", "DELETE", poolsPath + "/p/grants/team-*", "path:consumer", "must be the name of a project, or *"},
		{"RefusesABadKey", "GET", keys + "/A", "path:key", "must be a DNS label"},
		{"RefusesABadQuota", "GET", quotas + "/A", "path:quota", "must be a DNS label"},
		{"RefusesAHistoryOfNothing", "GET", history, "query:address", "is required."},
		{"RefusesAHistoryOfABlock", "GET", history + "?address=10.0.0.0/8", "query:address", "has a length after the address"},
		{"RefusesAHistoryOfAMappedAddress", "GET", history + "?address=::ffff:10.0.0.1", "query:address", "IPv4"},
		{"RefusesADayForAMoment", "GET", history + "?address=10.0.0.1&at=2026-03-03", "query:at", "must be a time from 1970 to 9999"},
		{"RefusesAMomentWithoutAZone", "GET", history + "?address=10.0.0.1&at=2026-03-03T12:00:00", "query:at", "must be a time"},
		{"RefusesAPlusThatIsASpace", "GET", history + "?address=10.0.0.1&at=2026-03-03T12:00:00+01:00", "query:at", "is written as %2B"},
		{"RefusesAnInvalidDay", "GET", events + "?since=2026-02-30T00:00:00Z", "query:since", "must be a time"},
		{"RefusesAnInvalidZone", "GET", events + "?until=2026-02-03T00:00:00%2B99:99", "query:until", "must be a time"},
		{"RefusesALeapSecond", "GET", events + "?until=2016-12-31T23:59:60Z", "query:until", "must be a time"},
		{"RefusesAnEarlyMoment", "GET", events + "?since=0000-01-01T00:00:00%2B14:00", "query:since", "must be a time from 1970"},
		{"RefusesALateMoment", "GET", events + "?until=9999-12-31T23:59:59-01:00", "query:until", "must be a time from 1970 to 9999"},
		{"RefusesASmallT", "GET", events + "?until=2026-02-03t00:00:00z", "query:until", "must be a time"},
		{"RefusesALabelSelectorOfKeys", "GET", keys + "?labelSelector=a", "query:labelSelector", "it has limit, cursor, consistency."},
		{"RefusesABadOutcome", "GET", events + "?outcome=OK", "query:outcome", "must be one of ok, permission_denied, not_found."},
		{"RefusesAnUnknownKind", "GET", events + "?resourceKind=Foo", "query:resourceKind", "must be one of Project, "},
		{"RefusesAnUnknownOperation", "GET", events + "?operation=nope", "query:operation", "must be one of createProject, "},
		{"RefusesAnEndBeforeTheBeginning", "GET", events + "?since=2026-03-03T00:00:00Z&until=2026-03-02T00:00:00Z", "query:until", "must not be before since"},
		{"RefusesANonUUIDAllocation", "GET", "/v1/projects/team-a/allocations/xyz", "path:allocation", "must be a UUID in lower case."},
		{"RefusesAnotherConsistency", "GET", poolsPath + "?consistency=eventual", "query:consistency", "strong, stale"},
		{"RefusesAConsistencyOfOtherCase", "GET", poolsPath + "/p?consistency=Stale", "query:consistency", "strong, stale"},
		{"RefusesAConsistencyOfWrites", "DELETE", poolsPath + "/p?consistency=stale", "query:consistency", "is not a parameter"},
		{"RefusesAConsistencyOfRegions", "GET", "/v1/regions?consistency=stale", "query:consistency", "it has none."},
		{"RefusesAParameterOfWhoami", "GET", "/v1/whoami?project=a", "query:project", "it has none."},
		{"RefusesABadClassInAPath", "GET", classes + "/Gold", "path:className", "must be a DNS label"},
		{"RefusesABadClassInAFilter", "GET", claimsPath + "?class=team-a/gold", "query:class", "must be a DNS label"},
		{"RefusesAnEmptyClassInAFilter", "GET", poolsPath + "?class=", "query:class", "at least 1 character"},
		{"RefusesAPhaseOfClasses", "GET", classes + "?phase=Ready", "query:phase", "it has labelSelector, ipFamily, limit, cursor, consistency."},
		{"RefusesToMoveTheDefaultByDeleting", "DELETE", classes + "/gold?moveDefault=true", "query:moveDefault", "is not a parameter"},
		{"RefusesAMalformedQuery", "GET", poolsPath + "?limit=%zz", "query", "is not a query string"},
		{"RefusesSemicolons", "GET", poolsPath + "?limit=1;limit=2", "query", "is not a query string"},
	}
	s := serve(t, api.Config{})
	for _, c := range cases {
		t.Run(c.promise, func(t *testing.T) {
			t.Parallel()
			p := problem(t, s.do(t, c.method, c.target, ""), http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
			require.NotEmpty(t, p.Errors)
			require.Equal(t, c.pointer, p.Errors[0].Pointer)
			require.Contains(t, p.Errors[0].Detail, c.detail)
		})
	}
}

func TestBadHeadersAreRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, api.Config{})
	const body = `{"metadata": {"name": "c"}, "spec": {"poolRef": {"name": "p"}, "prefixLength": 24}}`

	t.Run("RefusesABadIdempotencyKey", func(t *testing.T) {
		t.Parallel()
		for _, key := range []string{"", "two words", "ü", strings.Repeat("x", 256)} {
			p := problem(t, s.do(t, "POST", claimsPath, body, "Idempotency-Key", key), http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
			require.Equal(t, "header:Idempotency-Key", p.Errors[0].Pointer)
		}
	})

	t.Run("RefusesTwoIdempotencyKeys", func(t *testing.T) {
		t.Parallel()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, claimsPath, strings.NewReader(body))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {"a", "b"}}
		p := problem(t, s.send(t, r), http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
		require.Equal(t, "header:Idempotency-Key", p.Errors[0].Pointer)
		require.Equal(t, "is given 2 times; give it once.", p.Errors[0].Detail)
	})

	t.Run("RefusesABadIfMatch", func(t *testing.T) {
		t.Parallel()
		for _, match := range []string{"", "unquoted", `"half`, `"a" "b"`, `"a",`, `*, "a"`} {
			p := problem(t, s.do(t, "DELETE", poolsPath+"/p", "", "If-Match", match), http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
			require.Equal(t, "header:If-Match", p.Errors[0].Pointer, match)
		}
	})

	t.Run("RefusesAPatchWithoutIfMatch", func(t *testing.T) {
		t.Parallel()
		for _, path := range []string{"/v1/projects/a", "/v1/projects/a/spaces/b", poolsPath + "/p", classes + "/c", claimsPath + "/c"} {
			p := problem(t, s.do(t, "PATCH", path, `{}`), http.StatusPreconditionRequired, gen.ProblemCodePreconditionRequired)
			require.Equal(t, "header:If-Match", p.Errors[0].Pointer)
		}
	})
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	s := serve(t, api.Config{})
	const body = `{"metadata": {"name": "C"}, "spec": {}}` // the server reads this body and then refuses its name

	t.Run("RefusesABodyOfAnotherType", func(t *testing.T) {
		t.Parallel()
		for _, contentType := range []string{"text/plain", "application/x-www-form-urlencoded", "application/merge-patch+json", "application/json; charset=latin1", "nonsense/", ""} {
			w := s.do(t, "POST", claimsPath, body, "Content-Type", contentType)
			p := problem(t, w, http.StatusUnsupportedMediaType, gen.ProblemCodeUnsupportedMediaType)
			require.Equal(t, "header:Content-Type", p.Errors[0].Pointer)
		}
	})

	t.Run("RefusesAnotherPatchType", func(t *testing.T) {
		t.Parallel()
		w := s.do(t, "PATCH", poolsPath+"/p", `{}`, "Content-Type", "application/json", "If-Match", tag)
		problem(t, w, http.StatusUnsupportedMediaType, gen.ProblemCodeUnsupportedMediaType)
		require.Equal(t, "application/merge-patch+json", w.Header().Get("Accept-Patch"))
	})

	t.Run("RefusesACompressedBody", func(t *testing.T) {
		t.Parallel()
		w := s.do(t, "POST", claimsPath, body, "Content-Encoding", "gzip")
		problem(t, w, http.StatusUnsupportedMediaType, gen.ProblemCodeUnsupportedMediaType)
	})

	t.Run("ReadsItsTypeInAnySpelling", func(t *testing.T) {
		t.Parallel()
		for _, contentType := range []string{"Application/JSON", `application/json; charset="UTF-8"`} {
			w := s.do(t, "POST", claimsPath, body, "Content-Type", contentType)
			problem(t, w, http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
		}
	})

	t.Run("ReportsAMissingBodyNotItsType", func(t *testing.T) {
		t.Parallel()
		p := problem(t, s.do(t, "POST", claimsPath, ""), http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
		require.Contains(t, p.Errors[0].Detail, "is empty")
	})

	t.Run("RefusesAnotherAcceptType", func(t *testing.T) {
		t.Parallel()
		for _, accept := range []string{"text/html", "application/xml, text/*", "application/json;q=0, */*", "application/problem+json"} {
			p := problem(t, s.do(t, "GET", "/v1/version", "", "Accept", accept), http.StatusNotAcceptable, gen.ProblemCodeNotAcceptable)
			require.Equal(t, "header:Accept", p.Errors[0].Pointer)
		}
	})

	t.Run("AcceptsMatchingAcceptHeaders", func(t *testing.T) {
		t.Parallel()
		for _, accept := range []string{"", "*/*", "application/*", "application/json", "text/html, application/json;q=0.1", "Application/Json; charset=utf-8", "text/html;q=0.9, */*;q=0.1"} {
			require.Equal(t, http.StatusOK, s.do(t, "GET", "/v1/version", "", "Accept", accept).Code, accept)
		}
	})
}

func TestLargeBodies(t *testing.T) {
	t.Parallel()
	s := serve(t, api.Config{})
	large := `{"metadata": {"name": "c"}, "x": "` + strings.Repeat("x", 2<<20) + `"}`

	t.Run("RefusesByItsLength", func(t *testing.T) {
		t.Parallel()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, claimsPath, untouched{t})
		r.ContentLength = 2 << 20
		r.Header.Set("Content-Type", "application/json")
		problem(t, s.send(t, r), http.StatusRequestEntityTooLarge, gen.ProblemCodePayloadTooLarge)
	})

	t.Run("RefusesWhileReadingChunks", func(t *testing.T) {
		t.Parallel()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, claimsPath, io.NopCloser(strings.NewReader(large)))
		r.ContentLength = -1
		r.Header.Set("Content-Type", "application/json")
		problem(t, s.send(t, r), http.StatusRequestEntityTooLarge, gen.ProblemCodePayloadTooLarge)
	})

	t.Run("AcceptsTheLargestBody", func(t *testing.T) {
		t.Parallel()
		body := `{"x": "` + strings.Repeat("x", 1<<20-9) + `"}`
		require.Len(t, body, 1<<20)
		problem(t, s.do(t, "POST", claimsPath, body), http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
	})

	t.Run("RefusesATruncatedBody", func(t *testing.T) {
		t.Parallel()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, claimsPath, io.MultiReader(strings.NewReader(`{"a":`), broken{}))
		r.Header.Set("Content-Type", "application/json")
		p := problem(t, s.send(t, r), http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
		require.Equal(t, "ended before it was complete.", p.Errors[0].Detail)
	})
}

// untouched is a body that the server must not read.
type untouched struct{ t *testing.T }

func (u untouched) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

// broken is a body whose connection breaks while the server reads it.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestPathsAndMethods(t *testing.T) {
	t.Parallel()
	s := serve(t, api.Config{})

	t.Run("ReturnsAProblemForUnknownPaths", func(t *testing.T) {
		t.Parallel()
		for _, path := range []string{"/v1", "/v1/", "/v2/projects", "/v1/projects/", "/v1/projects//pools", "/v1/projects/a/nothing", "/v1/projects/a/spaces/b/c", "/problems/none", "/docs/none/"} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			w := httptest.NewRecorder()
			s.handler.ServeHTTP(w, r)
			require.Equal(t, http.StatusNotFound, w.Code, path)
			if !strings.HasPrefix(path, "/docs/") {
				p := problem(t, w, http.StatusNotFound, gen.ProblemCodeNotFound)
				require.Equal(t, path, p.Instance)
			}
		}
	})

	t.Run("ListsTheMethodsOfAPath", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct{ method, path, allow string }{
			{"DELETE", "/v1/projects", "GET, HEAD, POST"},
			{"PUT", "/v1/projects/a", "DELETE, GET, HEAD, PATCH"},
			{"OPTIONS", claimsPath + "/c", "DELETE, GET, HEAD, PATCH, PUT"},
			{"GET", batches, "POST"},
			{"GET", explanations, "POST"},
			{"PUT", classes, "GET, HEAD, POST"},
			{"PUT", classes + "/c", "DELETE, GET, HEAD, PATCH"},
			{"HEAD", batches, "POST"},
			{"POST", "/healthz", "GET, HEAD"},
			{"BREW", "/v1/version", "GET, HEAD"},
		} {
			w := s.do(t, c.method, c.path, "")
			require.Equal(t, c.allow, w.Header().Get("Allow"), c.path)
			problem(t, w, http.StatusMethodNotAllowed, gen.ProblemCodeMethodNotAllowed)
		}
	})
}

// The server serves every operation of the contract. A request may fail, but not because the path or method does not exist.
func TestEveryOperationIsServed(t *testing.T) {
	t.Parallel()
	s := serve(t, api.Config{})
	doc, err := gen.GetSpec()
	require.NoError(t, err)
	for path, item := range doc.Paths.Map() {
		target := strings.NewReplacer("{allocation}", "BAD", "{", "", "}", "").Replace(path)
		for method := range item.Operations() {
			w := s.do(t, method, target+"?unknown=1", "", "Content-Type", "application/json")
			problem(t, w, http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
		}
	}
}
