package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// The test makes each query and header parameter of each operation wrong in each way. The response must be a 400 that names the parameter. Nothing is
// written.
func TestBadParameters(t *testing.T) {
	t.Parallel()
	s := setupStage(t)
	s.writesNothing(t, func() {
		for _, each := range s.specimens(t) {
			t.Run(each.String(), func(t *testing.T) {
				bad := func(raw, pointer string) {
					t.Helper()
					refuses(t, s, each, raw, pointer)
				}
				for _, raw := range []string{"nothing=1", "nothing", "nothing=1&nothing=2", "DRYRUN=true", "Limit=1", "=1"} {
					name, _, _ := strings.Cut(raw, "=")
					bad(raw, "query:"+name)
				}
				for _, raw := range []string{"a;b=1", "%zz=1", "a=%f"} {
					bad(raw, "query")
				}
				for _, p := range each.op.in("query") {
					good := fmt.Sprint(sample(p.Schema.Value))
					bad(p.Name+"="+url.QueryEscape(good)+"&"+p.Name+"="+url.QueryEscape(good), "query:"+p.Name)
					bad(p.Name+"="+url.QueryEscape(good)+"&"+strings.ToUpper(p.Name)+"=1", "query:"+strings.ToUpper(p.Name))
					bad(p.Name+"[]="+url.QueryEscape(good), "query:"+p.Name+"[]")
					alone := each
					alone.query = maps.Clone(each.query)
					delete(alone.query, p.Name)
					for _, raw := range badValues(p) {
						refuses(t, s, alone, p.Name+"="+raw, "query:"+p.Name)
					}
					if p.Required {
						refuses(t, s, alone, "", "query:"+p.Name)
					}
				}
				if each.op.creates() {
					require.NotEmpty(t, each.op.in("header"), "each POST takes an Idempotency-Key")
				}
			})
		}
	})
}

// refuses adds raw text to the query of a specimen. The service must refuse the request with the given pointer.
func refuses(t testing.TB, s *stage, each specimen, raw, pointer string) {
	t.Helper()
	a := each.send(t, s.caller, query(raw))
	p, _ := problemOf(a)
	require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", raw, a.body)
	require.Contains(t, p.pointers(), pointer, raw)
}

// badValues lists invalid values of a parameter, escaped for use in a query.
func badValues(p *openapi3.Parameter) []string {
	s := plain(p.Schema.Value)
	common := []string{"%00", "a%00b", "%FF", "a%C3", "%ED%A0%80", "%0A", "%7F"}
	switch {
	case p.Name == "labelSelector":
		for _, selector := range []string{
			"=", "=x", "a=b=c", "a in", "a in b", "a in (b", "a in ()x", "in (a)", "a,,b", "a=b,", "!", "!a=b", "!!a", "a&b", "a>1", "a<1", "a>x", "a==", "a b",
			"-a=b", "a-=b", "a=-b", "é=1", "a=é", "a/b/c=d", "/a=b", "a/=b", strings.Repeat("a", 64) + "=b", "a=" + strings.Repeat("b", 64), strings.Repeat("a,", 600), "a notin", "a===b", "(a)",
		} {
			if selector != "a==" { // the empty value, as in Kubernetes
				common = append(common, url.QueryEscape(selector))
			}
		}
		return common
	case p.Name == "after": // a cursor of the changes
		return append(common, "", "x", "!!!", "e30", strings.Repeat("A", 1024))
	case p.Name == "q":
		return append(common, "", strings.Repeat("a", 321))
	case p.Name == "owner": // free text
		return append(common, "", "%2F", strings.Repeat("a", 512))
	case p.Name == "cursor":
		return append(common, "", "x", "!!!", "%2B%2F", "e30", "bnVsbA", "eyJrIjoicG9vbHMifQ", "W10", strings.Repeat("A", 1024), strings.Repeat("A", 1025), "MTIz",
			"eyJrIjoicG9vbHMiLCJhIjoiIn0", "eyJrIjoiY2xhaW1zIiwiYSI6MX0", "eyJrIjoicG9vbHMiLCJhIjoiYVx1MDAwMGIifQ")
	case s.Pattern == contract().doc.Components.Schemas["CIDR"].Value.Pattern:
		for _, block := range badBlocks {
			common = append(common, url.QueryEscape(block))
		}
		return common
	case s.Pattern == contract().doc.Components.Schemas["Address"].Value.Pattern:
		for _, address := range badAddresses {
			common = append(common, url.QueryEscape(address))
		}
		return common
	case s.Type.Is(openapi3.TypeBoolean):
		return append(common, "", "yes", "1", "0", "TRUE", "True", "t", "on", "null", "true,false", "%20true")
	case s.Type.Is(openapi3.TypeInteger):
		return append(common, "", "x", "-1", "1.5", "1e2", "01", "%2B1", "%201", "0x10", "99999999999999999999", "NaN", "1,2", "true",
			fmt.Sprint(int(*s.Min)-1), fmt.Sprint(int(*s.Max)+1))
	case len(s.Enum) > 0:
		return append(common, "", "Nothing", strings.ToUpper(fmt.Sprint(s.Enum[0])), fmt.Sprintf("%v,%v", s.Enum[0], s.Enum[0]), "1")
	case p.Name == "since" || p.Name == "until" || p.Name == "at":
		return append(common, "", "now", "1", "2026", "2026-03-03", "2026-03-03T12:00:00", "2026-03-03T12:00Z", "2026-03-03%2012:00:00Z", "2026-13-03T12:00:00Z",
			"2026-02-30T12:00:00Z", "2026-03-03T24:00:00Z", "2026-03-03T12:60:00Z", "2026-03-03T12:00:00%2B25:00", "2026-03-03T12:00:00.Z", "2026-03-03T12:00:00Z%20", "1772539200")
	case !strings.HasPrefix(s.Pattern, "^[a-z0-9]"): // an event's subject may contain characters that a name may not
		return append(common, "", "a%20b", "a/b%3F", strings.Repeat("a", 256), "%C3%A9", "%22")
	default: // names
		return append(common, "", "UPPER", "a/b/c", "/a", "a/", "a%20b", "a_b", strings.Repeat("a", 64), "..", "*")
	}
}
