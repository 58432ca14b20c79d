package e2e

import (
	"maps"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// All other tests use these checks. The checks must accept a correct response and detect each kind of wrong response.
func TestChecksDetectViolationsOfTheContract(t *testing.T) {
	t.Parallel()
	const path = "/v1/projects/acme/spaces/lab"
	const good = `{"metadata":{"name":"lab","uid":"8d9a4c1e-2b7f-4a53-9d60-71c5be0f2a11","project":"acme","generation":1,"revision":"r",` +
		`"createdAt":"2026-03-02T09:30:00Z","updatedAt":"2026-03-02T09:30:00Z","createdBy":"dev"},"spec":{},"status":{"phase":"Ready"}}`
	const refused = `{"type":"/problems/not_found","title":"Not found","status":404,"detail":"Nothing.","instance":"` + path + `","code":"not_found","traceId":"t"}`
	space := answer{
		method: http.MethodGet, path: path, status: http.StatusOK, body: []byte(good),
		header: http.Header{"X-Request-Id": {"x"}, "Content-Type": {"application/json"}, "Etag": {`"r"`}},
	}
	missing := answer{
		method: http.MethodGet, path: path, status: http.StatusNotFound, body: []byte(refused),
		header: http.Header{"X-Request-Id": {"x"}, "Content-Type": {"application/problem+json"}},
	}
	with := func(a answer, header, value string) answer {
		a.header = maps.Clone(a.header)
		if a.header.Del(header); value != "" {
			a.header.Set(header, value)
		}
		return a
	}
	but := func(a answer, old, replacement string) answer {
		require.Contains(t, string(a.body), old)
		a.body = []byte(strings.Replace(string(a.body), old, replacement, 1))
		return a
	}
	status := func(a answer, status int) answer {
		a.status = status
		return a
	}
	head := func(a answer) answer {
		a.method = http.MethodHead
		return a
	}
	for name, tc := range map[string]struct {
		a    answer
		says string // empty for a correct response
	}{
		"ARightAnswer":               {space, ""},
		"ARightRefusal":              {missing, ""},
		"NoRequestID":                {with(space, "X-Request-Id", ""), "X-Request-Id"},
		"NoETag":                     {with(space, "ETag", ""), "ETag is missing"},
		"AHeaderThatIsNotDeclared":   {with(space, "X-Secret", "1"), "X-Secret is not declared"},
		"AHeaderOfTheWrongType":      {with(status(space, http.StatusServiceUnavailable), "Retry-After", "soon"), "Retry-After"},
		"AStatusThatIsNotDeclared":   {status(space, http.StatusTeapot), "does not declare"},
		"AnotherMediaType":           {with(space, "Content-Type", "text/html"), "not declared"},
		"NoJSON":                     {but(space, "{", "<"), "no JSON"},
		"AFieldThatIsMissing":        {but(space, `"generation":1,`, ""), "generation"},
		"AFieldThatIsNotDeclared":    {but(space, `"spec":{`, `"secret":1,"spec":{`), "secret"},
		"AFieldDeepDown":             {but(space, `"createdBy":"dev"`, `"createdBy":"dev","password":"x"`), "password"},
		"AFieldOfTheWrongType":       {but(space, `"generation":1`, `"generation":"1"`), "generation"},
		"AValueThatIsNoChoice":       {but(space, "Ready", "ready"), "phase"},
		"ANameThatIsNone":            {but(space, `"lab"`, `"LAB"`), "name"},
		"HeadWithABody":              {head(space), "HEAD with a body"},
		"ARefusalAsPlainJSON":        {with(missing, "Content-Type", "application/json"), "a refusal is"},
		"ACodeOfAnotherStatus":       {but(missing, "not_found", "in_use"), "in_use"},
		"ACodeThatDoesNotExist":      {but(missing, `"code":"not_found"`, `"code":"gone"`), "gone"},
		"AnotherStatusInTheDocument": {but(missing, "404", "400"), "status 400"},
		"AnotherInstance":            {but(missing, path, "/elsewhere"), "instance"},
		"NoTraceID":                  {but(missing, `,"traceId":"t"`, ""), "traceId"},
		"AFigureThatIsNotDeclared":   {but(missing, `"traceId"`, `"sql":"SELECT","traceId"`), "sql"},
		"APointerThatPointsNowhere":  {but(missing, `"traceId"`, `"errors":[{"pointer":"spec","detail":"x"}],"traceId"`), "points nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := contract().violations(contract().operation(tc.a.method, tc.a.path), tc.a)
			if tc.says == "" {
				require.Empty(t, wrong)
				return
			}
			require.Contains(t, strings.Join(wrong, "\n"), tc.says)
		})
	}
}

// For random plans, the containment tree must agree with a comparison of all pairs of blocks.
func TestForestPutsEachBlockInTheSmallestBlockAroundIt(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var blocks []netip.Prefix
		for range 40 {
			addr := netip.AddrFrom4([4]byte{10, 0, byte(random.IntN(4)), byte(random.IntN(256))})
			blocks = append(blocks, netip.PrefixFrom(addr, 20+random.IntN(13)).Masked())
		}
		nodes := forest(blocks)
		require.Len(t, nodes, len(blocks))
		for i, n := range nodes {
			want := netip.Prefix{}
			for _, o := range blocks {
				if o.Bits() < n.block.Bits() && o.Contains(n.block.Addr()) && (!want.IsValid() || o.Bits() > want.Bits()) {
					want = o
				}
			}
			if n.parent == nil {
				require.False(t, want.IsValid(), "%v lies in %v", n.block, want)
				require.Zero(t, n.depth)
				continue
			}
			require.Equal(t, want, n.parent.block, "%v", n.block)
			require.Equal(t, n.parent.depth+1, n.depth)
			require.Contains(t, nodes[:i], n.parent, "parents come first")
		}
	}
}
