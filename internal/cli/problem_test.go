package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The test prints every refusal in the contract's examples as an operator sees it.
func TestRefusalsArePrintedReadably(t *testing.T) {
	t.Parallel()
	doc, err := contract()
	require.NoError(t, err)
	var names []string
	for name := range doc.Components.Examples {
		if strings.HasPrefix(name, "Problem") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	require.NotEmpty(t, names)
	var all strings.Builder
	for _, name := range names {
		answer := refusal(t, name)
		d := answering(t)
		d.Config.Handler = refusing(answer) // for every request, because no operation has all of the refusals
		r := d.run("claim", "get", "web-eu")
		require.Empty(t, r.out, name)
		require.NotContains(t, r.err, "{", "a dump of a structure")
		all.WriteString("# " + name + ", exit code " + string(rune('0'+r.code)) + "\n" + r.err + "\n")
	}
	requireGolden(t, "problems", all.String())
}

func refusing(answer reply) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("X-Request-Id", "req-1")
		w.WriteHeader(answer.status)
		_, _ = w.Write(answer.body)
	}
}

func TestExitCodesDistinguishRefusals(t *testing.T) {
	t.Parallel()
	for code, problems := range map[int][]string{
		1: {"ProblemInvalidArgument", "ProblemMissingRoles", "ProblemClassBounds", "ProblemUnauthenticated", "ProblemPermissionDenied", "ProblemNeverSatisfiable", "ProblemIdempotencyMismatch", "ProblemInternal"},
		3: {"ProblemNotFound", "ProblemClassNotFound"},
		4: {"ProblemPoolExhausted", "ProblemExhaustedByCooldown", "ProblemPoolDraining", "ProblemNoPoolForClass", "ProblemNoDefaultClass", "ProblemAlreadyExists", "ProblemBlockTaken", "ProblemClaimReleased", "ProblemAllocationRetained", "ProblemNoPoolMatches"},
		5: {"ProblemRateLimited", "ProblemContention", "ProblemOutcomeUnknown", "ProblemUnavailable", "ProblemDeadline"},
	} {
		for _, name := range problems {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				answer := refusal(t, name)
				d := answering(t, answer, answer, answer, answer, answer)
				require.Equal(t, code, d.run("claim", "create", "x", "--pool", "prod-eu").code)
			})
		}
	}
	t.Run("UnreachableServer", func(t *testing.T) {
		t.Parallel()
		d := answering(t)
		d.Close()
		r := d.run("pool", "list")
		require.Equal(t, 5, r.code)
		require.Contains(t, r.err, "error: no response from "+d.URL)
		require.Contains(t, r.err, "connection refused")
	})
	t.Run("PreconditionFailed", func(t *testing.T) {
		t.Parallel()
		d := answering(t, refusal(t, "ProblemPreconditionFailed"))
		r := d.run("pool", "delete", "prod-eu", "--if-match", `"stale"`)
		require.Equal(t, 4, r.code)
		require.Equal(t, `"stale"`, d.requests()[0].header.Get("If-Match"))
	})
}

func TestResponseOfAnotherServerIsReported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status      int
		contentType string
		body        string
		code        int
		want        string
	}{
		"WebPage":      {200, "text/html", "<html>hello</html>", 1, "<html>hello"},
		"ProxyError":   {502, "text/html", "<h1>Bad\nGateway</h1>", 5, "502 Bad Gateway"},
		"OtherAPI":     {404, "application/json", `{"message":"no"}`, 3, `{"message":"no"}`},
		"EmptyProblem": {400, "application/problem+json", `{}`, 1, "400 Bad Request"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t)
			d.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.contentType)
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			r := d.run("project", "get", "team-a")
			require.Equal(t, c.code, r.code)
			require.Contains(t, r.err, "does not respond like a Carve server")
			require.Contains(t, r.err, c.want)
			said := r.err[strings.Index(r.err, "error: "):] // the part after the messages about retries
			require.Equal(t, 1, strings.Count(said, "\n"), "one line: %q", said)
		})
	}
}

func TestTruncatedResponseIsAnError(t *testing.T) {
	t.Parallel()
	d := answering(t)
	whole := example(t, "IPPool")
	d.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write(whole[:len(whole)/2])
	})
	r := d.run("pool", "get", "prod-eu")
	require.Equal(t, 5, r.code)
	require.Empty(t, r.out)
}

func TestRefusedDeleteDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	d := answering(t, gone(), refusal(t, "ProblemNotFound"), gone())
	r := d.run("space", "delete", "a", "b", "c")
	require.Equal(t, 3, r.code)
	require.Equal(t, "space a deleted\nspace c deleted\n", r.out)
	require.Contains(t, r.err, "error: space b: Pool team-a/prod-us was not found.")

	d = answering(t, gone(), refusal(t, "ProblemNotFound"), gone())
	r = d.done("space", "delete", "a", "b", "c", "--ignore-not-found")
	require.Equal(t, "space b was not there\n", r.err)
}

func TestVersionIsShownWithoutAServer(t *testing.T) {
	t.Parallel()
	d := answering(t, ok(example(t, "Version")))
	r := d.done("version", "-o", "json")
	var v struct{ Client, Server struct{ Version string } }
	require.NoError(t, json.Unmarshal([]byte(r.out), &v))
	require.Equal(t, "1.2.3", v.Client.Version)
	require.Equal(t, "0.1.0", v.Server.Version)

	away := httptest.NewServer(nil)
	away.Close()
	d.env["CARVE_SERVER"] = away.URL
	r = d.run("version")
	require.Equal(t, 5, r.code)
	require.Contains(t, r.out, "1.2.3")
	require.Zero(t, d.run("version", "--client").code)
}
