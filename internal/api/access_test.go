package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// reading and taking list the read operations and the write operations on these resources.
var (
	reading = []struct {
		path  string
		calls []string
	}{
		{members + "/corp:alice@example.com", []string{"GetMember", "team-a", "corp:alice@example.com"}},
		{keys + "/pipeline", []string{"GetKey", "team-a", "pipeline"}},
		{quotas + "/all", []string{"GetQuota", "team-a", "all"}},
		{poolsPath + "/p/grants/team-b", []string{"GetPoolGrant", "team-a", "p", "team-b"}},
		{poolsPath + "/p/grants/*", []string{"GetPoolGrant", "team-a", "p", "*"}},
		{"/v1/projects/team-a/spaces/lab/grants/team-b", []string{"GetSpaceGrant", "team-a", "lab", "team-b"}},
		{"/v1/projects/team-a/spaces/lab/grants/%2A", []string{"GetSpaceGrant", "team-a", "lab", "*"}},
	}
	listing = map[string][]string{
		members:                                {"ListMembers", "team-a"},
		keys:                                   {"ListKeys", "team-a"},
		quotas:                                 {"ListQuotas", "team-a"},
		poolsPath + "/p/grants":                {"ListPoolGrants", "team-a", "p"},
		"/v1/projects/team-a/spaces/x/grants":  {"ListSpaceGrants", "team-a", "x"},
		events:                                 {"ListEvents", "team-a"},
		history + "?address=10.0.0.1":          {"GetHistory", "team-a"},
		history + "?address=2001%3Adb8%3A%3A1": {"GetHistory", "team-a"},
	}
)

func TestGetOfAccessResources(t *testing.T) {
	t.Parallel()
	for _, c := range reading {
		t.Run(c.path, func(t *testing.T) {
			t.Parallel()
			s := scriptAccess()
			w := s.server(t).do(t, "GET", c.path, "")
			require.Equal(t, http.StatusOK, w.Code, w.Body.String())
			require.Equal(t, c.calls, s.calls)
			got := decode[struct {
				Metadata gen.PlainMetadata `json:"metadata"`
			}](t, w)
			require.Equal(t, `"`+got.Metadata.Revision+`"`, w.Header().Get("ETag"))
			require.NotEmpty(t, got.Metadata.Name)
			require.Equal(t, "team-a", got.Metadata.Project)
			require.Equal(t, "corp:root@example.com", got.Metadata.CreatedBy)

			head := s.server(t).do(t, "HEAD", c.path, "")
			require.Equal(t, http.StatusOK, head.Code)
			require.Equal(t, w.Header().Get("ETag"), head.Header().Get("ETag"))
		})
	}
}

func TestListsOfAccessResources(t *testing.T) {
	t.Parallel()
	for path, calls := range listing {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s := scriptAccess()
			w := s.server(t).do(t, "GET", path, "")
			require.Equal(t, http.StatusOK, w.Code, w.Body.String())
			require.Equal(t, calls, s.calls)
			require.Equal(t, 100, s.limit)
			require.Empty(t, s.cursor)
			page := decode[struct {
				Items      []any  `json:"items"`
				NextCursor string `json:"nextCursor"`
			}](t, w)
			require.NotNil(t, page.Items, "an empty page is [] and not null")
			require.Equal(t, "bmV4dA", page.NextCursor)

			more := "?limit=7&cursor=abc"
			if strings.Contains(path, "?") {
				more = "&limit=7&cursor=abc"
			}
			require.Equal(t, http.StatusOK, s.server(t).do(t, "GET", path+more, "").Code)
			require.Equal(t, 7, s.limit)
			require.Equal(t, "abc", s.cursor)
		})
	}
}

func TestDeleteOfAccessResources(t *testing.T) {
	t.Parallel()
	for _, c := range reading {
		t.Run(c.path, func(t *testing.T) {
			t.Parallel()
			s := scriptAccess()
			w := s.server(t).do(t, "DELETE", c.path+"?dryRun=true", "", "If-Match", tag)
			require.Equal(t, http.StatusNoContent, w.Code, w.Body.String())
			require.Empty(t, w.Body.String())
			require.Equal(t, "true", w.Header().Get("Dry-Run"))
			calls := append([]string{strings.Replace(c.calls[0], "Get", "Delete", 1)}, c.calls[1:]...)
			require.Equal(t, calls, s.calls)
			require.Equal(t, usecase.Request{DryRun: true, IfMatch: usecase.Match{Revisions: []string{strings.Trim(tag, `"`)}}}, s.request)

			w = s.server(t).do(t, "DELETE", c.path, "")
			require.Equal(t, http.StatusNoContent, w.Code)
			require.Empty(t, w.Header().Values("Dry-Run"))
			require.Equal(t, usecase.Request{}, s.request)
		})
	}
}

func TestPutOfAccessResources(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, body string
		calls      []string
	}{
		{members + "/corp:alice@example.com", `{"spec": {"role": "admin"}}`, []string{"PutMember", "team-a", "corp:alice@example.com"}},
		{quotas + "/all", `{"spec": {"limits": {"claims": 0}}}`, []string{"PutQuota", "team-a", "all"}},
		{poolsPath + "/p/grants/team-b", "", []string{"PutPoolGrant", "team-a", "p", "team-b"}},
		{poolsPath + "/p/grants/*", "", []string{"PutPoolGrant", "team-a", "p", "*"}},
		{"/v1/projects/team-a/spaces/lab/grants/team-b", "", []string{"PutSpaceGrant", "team-a", "lab", "team-b"}},
		{"/v1/projects/team-a/spaces/lab/grants/*", "", []string{"PutSpaceGrant", "team-a", "lab", "*"}},
	} {
		t.Run(c.path, func(t *testing.T) {
			t.Parallel()
			s := scriptAccess()
			w := s.server(t).do(t, "PUT", c.path, c.body)
			require.Equal(t, http.StatusCreated, w.Code, w.Body.String())
			require.Equal(t, c.calls, s.calls)
			require.Equal(t, c.path, w.Header().Get("Location"))
			require.NotEmpty(t, w.Header().Get("ETag"))
			require.Empty(t, w.Header().Values("Dry-Run"))
			require.Equal(t, usecase.Request{}, s.request)

			s.existed = true
			w = s.server(t).do(t, "PUT", c.path+"?dryRun=true", c.body)
			require.Equal(t, http.StatusOK, w.Code, w.Body.String())
			require.Empty(t, w.Header().Values("Location"))
			require.NotEmpty(t, w.Header().Get("ETag"))
			require.Equal(t, "true", w.Header().Get("Dry-Run"))
			require.True(t, s.request.DryRun)
		})
	}
}

func TestReplacementHonoursIfMatch(t *testing.T) {
	t.Parallel()
	for path, body := range map[string]string{
		members + "/a": `{"spec": {"role": "viewer"}}`,
		quotas + "/a":  `{"spec": {"limits": {"pools": 1}}}`,
	} {
		s := scriptAccess()
		require.Less(t, s.server(t).do(t, "PUT", path, body, "If-Match", `"a", `+tag).Code, 300)
		require.Equal(t, []string{"a", strings.Trim(tag, `"`)}, s.request.IfMatch.Revisions)
		require.Less(t, s.server(t).do(t, "PUT", path, body, "If-Match", "*").Code, 300)
		require.True(t, s.request.IfMatch.Any)

		p := problem(t, s.server(t).do(t, "PUT", path, body, "If-Match", "a"), http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
		require.Equal(t, "header:If-Match", p.Errors[0].Pointer)

		s.fail = usecase.Match{Revisions: []string{"a"}}.Check(s.member.Revision)
		w := s.server(t).do(t, "PUT", path, body, "If-Match", `"a"`)
		problem(t, w, http.StatusPreconditionFailed, gen.ProblemCodePreconditionFailed)
		require.Equal(t, tagOf(s.member.Metadata), w.Header().Get("ETag"))
	}
}

func TestMembersHaveTheirRole(t *testing.T) {
	t.Parallel()
	s := scriptAccess()
	w := s.server(t).do(t, "PUT", members+"/corp:bob@example.com", `{"spec": {"role": "provider"}}`)
	require.Equal(t, ipam.Member{Metadata: ipam.Metadata{Name: "corp:bob@example.com"}, Spec: ipam.MemberSpec{Role: "provider"}}, s.askedM)
	got := decode[gen.Member](t, w)
	require.Equal(t, "corp:bob@example.com", got.Metadata.Name)
	require.Equal(t, gen.RoleProvider, got.Spec.Role)
}

// A subject may contain characters that have a meaning in a path. All spellings select the same subject, and Location contains one of them.
func TestSubjectsRoundTripThroughThePath(t *testing.T) {
	t.Parallel()
	for written, subject := range map[string]string{
		"corp:alice@example.com":         "corp:alice@example.com",
		"corp%3Aalice%40example%2Ecom":   "corp:alice@example.com",
		"corp:a|b":                       "corp:a|b",
		"corp:a%7Cb":                     "corp:a|b",
		"corp:a%7cb":                     "corp:a|b",
		"x+y":                            "x+y",
		"x%2By":                          "x+y",
		"a=b":                            "a=b",
		"a%3Db":                          "a=b",
		"_.-":                            "_.-",
		"dev":                            "dev",
		strings.Repeat("a", 255):         strings.Repeat("a", 255),
		strings.Repeat("%7C", 255):       strings.Repeat("|", 255),
		"google:1%3A2%7c3+4%40x%3D-._":   "google:1:2|3+4@x=-._",
		"corp:system%3Aserviceaccount:a": "corp:system:serviceaccount:a",
	} {
		t.Run(written, func(t *testing.T) {
			t.Parallel()
			s := scriptAccess()
			w := s.server(t).do(t, "PUT", members+"/"+written, `{"spec": {"role": "viewer"}}`)
			require.Equal(t, http.StatusCreated, w.Code, w.Body.String())
			require.Equal(t, subject, s.askedM.Name)
			require.Equal(t, subject, decode[gen.Member](t, w).Metadata.Name)

			location := w.Header().Get("Location")
			require.NotContains(t, location, "|", "not a character of a URI")
			require.Equal(t, http.StatusOK, s.server(t).do(t, "GET", location, "").Code)
			require.Equal(t, []string{"GetMember", "team-a", subject}, s.calls)
			require.Equal(t, http.StatusNoContent, s.server(t).do(t, "DELETE", members+"/"+written, "").Code)
			require.Equal(t, []string{"DeleteMember", "team-a", subject}, s.calls)
		})
	}
}

func TestRemovalOfTheLastAdminIsAConflict(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"DELETE", members + "/a", ""},
		{"DELETE", keys + "/k", ""},
		{"PUT", members + "/a", `{"spec": {"role": "viewer"}}`},
	} {
		s := scriptAccess()
		s.fail = ipam.Errorf(ipam.CodeLastAdmin, "This is the last admin.")
		problem(t, s.server(t).do(t, c[0], c[1], c[2]), http.StatusConflict, gen.ProblemCodeLastAdmin)
	}
}

func TestWhoami(t *testing.T) {
	t.Parallel()
	s := scriptAccess()
	w := s.server(t).do(t, "GET", "/v1/whoami", "")
	require.Equal(t, http.StatusOK, w.Code)
	require.JSONEq(t, `{"subject": "corp:alice@example.com", "method": "oidc", "platformAdmin": false,
		"roles": [{"project": "team-a", "role": "consumer"}, {"project": "team-b", "role": "viewer"}]}`, w.Body.String())

	s.who.Roles = map[string]tenancy.Role{"platform": tenancy.Admin}
	require.JSONEq(t, `{"subject": "corp:alice@example.com", "method": "oidc", "platformAdmin": true,
		"roles": [{"project": "platform", "role": "admin"}]}`, s.server(t).do(t, "GET", "/v1/whoami", "").Body.String())

	s.who.Roles = nil
	require.JSONEq(t, `{"subject": "corp:alice@example.com", "method": "oidc", "platformAdmin": false, "roles": []}`,
		s.server(t).do(t, "GET", "/v1/whoami", "").Body.String())
}
