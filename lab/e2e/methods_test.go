package e2e

import (
	"bytes"
	"compress/gzip"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnknownPathIsNotFound(t *testing.T) {
	t.Parallel()
	s := setupStage(t)
	team := "/v1/projects/" + s.names["project"]
	for _, path := range []string{
		"/v1", "/v1/", "/v2/projects", "/v1/projects/", team + "/", team + "/nothing", team + "/pools/", team + "/pools/prod-eu/", team + "/pools/prod-eu/free/",
		team + "/pools/prod-eu/free/x", team + "//pools", "/v1//projects", "/V1/projects", "/v1/Projects",
		"/problems/", "/problems/unheard_of", "/openapi", "/openapi.yaml/x", "/healthz/x",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			a := s.do(t, method, path, nil)
			if a.status != http.StatusMethodNotAllowed {
				s.refused(t, a, "not_found")
			}
		}
	}
	t.Run("NamesThatDoNotExistAreNotFound", func(t *testing.T) {
		for _, each := range s.specimens(t) {
			for name := range s.names {
				if !slices.Contains(each.op.template, "{"+name+"}") {
					continue
				}
				names := maps.Clone(s.names)
				names[name] = "nobody"
				if name == "scope" {
					names[name] = "cluster=nobody"
				}
				if name == "allocation" || name == "delivery" {
					names[name] = "00000000-0000-4000-8000-000000000000"
				}
				if each.op.method == http.MethodPut && each.op.template[len(each.op.template)-1] == "{"+name+"}" {
					continue // a PUT creates a missing object
				}
				if name == "realm" || name == "uid" && each.op.method == http.MethodDelete || name == "claim" && each.op.id == "detachConsumer" {
					continue // these succeed without an object: a realm exists once a request names it, an unknown consumer counts as ended, and no consumer uses a missing claim
				}
				other := each
				other.path = each.op.path(names)
				s.writesNothing(t, func() { s.refused(t, other.send(t, s.caller), "not_found") })
			}
		}
	})
	t.Run("InvalidNamesAreRefused", func(t *testing.T) {
		for _, bad := range []string{"UPPER", "-a", "a-", "a_b", "a.b", strings.Repeat("a", 64), "%00", "a%00b", "%FF", "%C3%A9", "%20", "a%0A", "%2e", "*", "a%3Fb", "%25", "..%2Fprod-eu", "%2e%2e"} {
			for _, each := range s.specimens(t) {
				for i, segment := range each.op.template {
					if !strings.HasPrefix(segment, "{") {
						continue
					}
					other, parts := each, strings.Split(each.path, "/")
					parts[i] = bad
					if each.op.admits(strings.Trim(segment, "{}"), bad) {
						continue
					}
					other.path = strings.Join(parts, "/")
					s.refused(t, other.send(t, s.caller), "invalid_argument", "path:"+strings.Trim(segment, "{}"))
				}
			}
		}
	})
}

// admits reports whether a path parameter allows a value.
func (op *operation) admits(name, value string) bool {
	text, err := url.PathUnescape(value)
	for _, p := range op.in("path") {
		if p.Name == name {
			return err == nil && plain(p.Schema.Value).VisitJSON(text) == nil
		}
	}
	return false
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	s := setupStage(t)
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	_, err := zip.Write([]byte("{}"))
	require.NoError(t, err)
	require.NoError(t, zip.Close())
	specimens := s.specimens(t)

	t.Run("OfAnswersMustBeAcceptable", func(t *testing.T) {
		s.writesNothing(t, func() {
			for _, each := range specimens {
				for _, accept := range []string{"text/html", "application/xml", "application/json;q=0", "*/*;q=0", "application/problem+json", "text/*"} {
					if each.op.method == http.MethodDelete && accept == "application/problem+json" {
						continue // a successful deletion has no body
					}
					s.refused(t, each.send(t, s.caller, header("Accept", accept)), "not_acceptable", "header:Accept")
				}
			}
		})
		for _, accept := range []string{"*/*", "application/*", "application/json", "text/html, application/json;q=0.1", "APPLICATION/JSON", "text/html,*/*;q=0.8"} {
			s.ok(t, s.do(t, http.MethodGet, "/v1/projects", nil, header("Accept", accept)))
		}
		// A client made by openapi-generator sends this Accept: a deletion can return only a refusal.
		s.refused(t, s.do(t, http.MethodDelete, at("pools", "nothing"), nil, header("Accept", "application/problem+json")), "not_found")
	})
	t.Run("OfBodiesMustMatchTheOperation", func(t *testing.T) {
		s.writesNothing(t, func() {
			for _, each := range specimens {
				if each.op.RequestBody == nil {
					continue
				}
				other := "application/json"
				if each.op.method != http.MethodPatch {
					other = "application/merge-patch+json"
				}
				for _, mediaType := range []string{other, "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", "json", "", ";", "multipart/form-data; boundary=x"} {
					a := each.send(t, s.caller, without("Content-Type"), header("Content-Type", mediaType))
					s.refused(t, a, "unsupported_media_type")
					if each.op.method == http.MethodPatch {
						require.Equal(t, "application/merge-patch+json", a.header.Get("Accept-Patch"))
					}
				}
				s.refused(t, each.send(t, s.caller, without("Content-Type")), "unsupported_media_type")
				s.refused(t, each.sendBody(t, s.caller, zipped.Bytes(), header("Content-Encoding", "gzip")), "unsupported_media_type")
			}
		})
	})
	t.Run("OperationsThatTakeNoBodyRefuseOne", func(t *testing.T) {
		s.writesNothing(t, func() {
			for _, each := range specimens {
				if each.op.RequestBody == nil {
					s.refused(t, s.do(t, each.op.method, each.path, obj{}), "invalid_argument")
					s.refused(t, s.do(t, each.op.method, each.path, obj{}, chunked), "invalid_argument")
				}
			}
		})
	})
}
