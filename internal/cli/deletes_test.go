package cli_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// respondingWith returns a handler that responds with one document.
func respondingWith(doc []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(doc)
	}
}

// methods returns the methods of the requests that the double received.
func (d *double) methods() (out []string) {
	for _, s := range d.requests() {
		out = append(out, s.method)
	}
	return out
}

func TestDeleteWithALostResponseSucceedsIfTheResourceIsGone(t *testing.T) {
	t.Parallel()
	missing := refusal(t, "ProblemNotFound")
	for name, first := range map[string]reply{
		"Cut": cut(), "OutcomeUnknown": refusal(t, "ProblemOutcomeUnknown"), "Deadline": refusal(t, "ProblemDeadline"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t, first, missing)
			r := d.done("space", "delete", "lab")
			require.Equal(t, "space lab deleted\n", r.out)
			require.Contains(t, r.err, "it is unknown whether space lab was deleted; checking\n")
			require.Equal(t, []string{"DELETE", "GET"}, d.methods())
		})
	}
	t.Run("NotAfterADefiniteRefusal", func(t *testing.T) {
		t.Parallel()
		d := answering(t, refusal(t, "ProblemRateLimited"), missing)
		require.Equal(t, 3, d.run("space", "delete", "lab").code)
		require.Equal(t, []string{"DELETE", "DELETE"}, d.methods())
	})
}

// After a lost response, another resource may have the name. The command must not delete that resource.
func TestDeleteWithALostResponseKeepsANewerResource(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args   []string
		answer string
	}{
		{[]string{"claim", "delete", "web-eu", "-q"}, "IPClaim"}, // without -q, the command reads the claim first
		{[]string{"pool", "delete", "prod-eu"}, "IPPool"},
		{[]string{"space", "delete", "lab"}, "Space"},
		{[]string{"project", "delete", "team-a"}, "Project"},
		{[]string{"allocation", "delete", "d4c1f7a2-8e0b-4f2c-9b16-5a7e3c9d1f08"}, "IPAllocation"},
		{[]string{"member", "remove", "corp:alice@example.com"}, "Member"},
		{[]string{"key", "revoke", "pipeline"}, "ApiKey"},
		{[]string{"quota", "delete", "shared-eu"}, "Quota"},
		{[]string{"class", "delete", "web"}, "IPClassMinimal"},
		{[]string{"grant", "remove", "team-a", "--pool", "shared-eu"}, "Grant"},
		{[]string{"grant", "remove", "team-a", "--space", "internet"}, "Grant"},
	} {
		t.Run(c.args[0]+c.args[len(c.args)-2], func(t *testing.T) {
			t.Parallel()
			for _, first := range []reply{cut(), refusal(t, "ProblemOutcomeUnknown")} {
				d := answering(t, first, ok(example(t, c.answer)))
				r := d.run(c.args...)
				require.Equal(t, 5, r.code)
				require.Empty(t, r.out)
				require.Equal(t, []string{"DELETE", "GET"}, d.methods())
				require.Equal(t, d.requests()[0].uri, d.requests()[1].uri, "it looks at what it deleted")
				require.Contains(t, r.err, `To delete exactly this one, use: --if-match '"some-revision"'`)
			}
		})
	}
}

func TestDeleteByRevisionIsRetried(t *testing.T) {
	t.Parallel()
	byRevision := []string{"space", "delete", "lab", "--if-match", `"r1"`}
	d := answering(t, cut(), refusal(t, "ProblemNotFound"))
	require.Equal(t, "space lab deleted\n", d.done(byRevision...).out)
	require.Equal(t, []string{"DELETE", "DELETE"}, d.methods())
	require.Equal(t, `"r1"`, d.requests()[1].header.Get("If-Match"))

	d = answering(t, cut(), refusal(t, "ProblemPreconditionFailed"))
	require.Equal(t, 4, d.run(byRevision...).code, "another one has the name now")

	d = answering(t, cut(), cut(), cut(), cut(), cut(), ok(example(t, "Space")))
	r := d.run(byRevision...)
	require.Equal(t, 5, r.code)
	require.Contains(t, r.err, "at another revision than --if-match")
}

func TestDeleteWithUnknownOutcomeIsReported(t *testing.T) {
	t.Parallel()
	d := answering(t, cut(), cut(), cut(), cut(), cut(), cut())
	r := d.run("space", "delete", "lab")
	require.Equal(t, 5, r.code)
	require.Equal(t, []string{"DELETE", "GET", "GET", "GET", "GET", "GET"}, d.methods())
	require.Contains(t, r.err, "It is unknown whether the space was deleted. Check before you retry.")

	d = answering(t, cut(), refusal(t, "ProblemNotFound"), gone())
	r = d.done("space", "delete", "a", "b")
	require.Equal(t, "space a deleted\nspace b deleted\n", r.out)

	d = answering(t, cut(), reply{status: 204})
	d.done("space", "delete", "lab", "--dry-run") // a dry run has no effect, so the command retries it
	require.Equal(t, []string{"DELETE", "DELETE"}, d.methods())
}

func TestUnreachableServerIsNotAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	d := answering(t)
	d.Close()
	r := d.run("space", "delete", "lab")
	require.Equal(t, 5, r.code)
	require.NotContains(t, r.err, "unknown whether")
}
