package cli_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPIVerbSendsAnyRequest(t *testing.T) {
	t.Parallel()
	note := filepath.Join(t.TempDir(), "note")
	require.NoError(t, os.WriteFile(note, []byte("Production"), 0o600))
	pools, pool := "/v1/projects/team-a/pools", "/v1/projects/team-a/pools/prod-eu"
	for name, c := range map[string]struct {
		args              []string
		in                string
		answer            reply
		method, uri, body string
	}{
		"Get": {args: []string{"projects/{project}/pools?limit=2"}, answer: ok(lastPage(t, "IPPoolList")), method: "GET", uri: pools + "?limit=2"},
		"GetWithFields": {
			args:   []string{"projects/{project}/pools", "-X", "get", "-F", "limit=2", "-f", "labelSelector=env in (a,b)"},
			answer: ok(lastPage(t, "IPPoolList")), method: "GET", uri: pools + "?labelSelector=env+in+%28a%2Cb%29&limit=2",
		},
		"Input": {
			args: []string{"/v1/projects/{project}/pools", "--input", "-"}, in: "metadata: { name: prod-eu }\nspec: { cidr: 10.20.0.0/16 }\n",
			answer: created(example(t, "IPPool")), method: "POST", uri: pools, body: `{"metadata":{"name":"prod-eu"},"spec":{"cidr":"10.20.0.0/16"}}`,
		},
		"Fields": {
			args: []string{
				"projects/{project}/pools", "-f", "metadata[name]=prod-eu", "-f", "metadata[labels][a.b/c]=007", "-f", "spec[parentRef][name]=corp",
				"-F", "spec[prefixLength]=16", "-f", "spec[classNames][]=a", "-f", "spec[classNames][]=b", "-F", "spec[description]=@" + note,
			},
			answer: created(example(t, "IPPool")), method: "POST", uri: pools,
			body: `{"metadata":{"name":"prod-eu","labels":{"a.b/c":"007"}},
				"spec":{"parentRef":{"name":"corp"},"prefixLength":16,"classNames":["a","b"],"description":"Production"}}`,
		},
		"Patch": {
			args:   []string{"PATCH", "projects/{project}/pools/prod-eu", "--if-match", "*", "-F", "spec[description]=null"},
			answer: ok(example(t, "IPPool")), method: "PATCH", uri: pool, body: `{"spec":{"description":null}}`,
		},
		"DeleteWithFields": {
			args: []string{"-X", "DELETE", "projects/{project}/pools/prod-eu", "-F", "dryRun=true"}, answer: gone(), method: "DELETE", uri: pool + "?dryRun=true",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t, c.answer)
			d.in = c.in
			d.done(append([]string{"api"}, c.args...)...)
			s := d.requests()[0]
			require.Equal(t, c.method, s.method)
			require.Equal(t, c.uri, s.uri)
			if c.body != "" {
				require.JSONEq(t, c.body, string(s.body))
			}
			require.Equal(t, c.method == http.MethodPost, s.header.Get("Idempotency-Key") != "")
		})
	}
}

func TestAPIVerbRefusesContradictoryArguments(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		`"projects/../x" is not a path of the API`:               {"projects/../x"},
		`"BREW" is not a method of the API`:                      {"BREW", "whoami"},
		`give the method once: GET or --method POST`:             {"GET", "whoami", "-X", "POST"},
		`--paginate prints one list`:                             {"projects", "--paginate", "-X", "POST"},
		`a GET has no body`:                                      {"GET", "projects", "--input", "-"},
		`use --input or fields for the body, not both`:           {"projects", "-f", "a=b", "--input", "-"},
		`"a" is not a field: use KEY=VALUE`:                      {"projects", "-f", "a"},
		`"a[b=c" is not a field`:                                 {"projects", "-f", "a[b=c"},
		`the field a[b] contradicts an earlier field`:            {"projects", "-f", "a=b", "-f", "a[b]=c"},
		`the field a[] contradicts an earlier field`:             {"projects", "-f", "a[b]=c", "-f", "a[]=c"},
		`the field a contradicts an earlier field`:               {"projects", "-f", "a=b", "-f", "a=c"},
		`cannot read the file: open /no/such/file: no such file`: {"projects", "-F", "a=@/no/such/file"},
	} {
		d := answering(t)
		r := d.run(append([]string{"api"}, args...)...)
		require.Equal(t, 2, r.code, args)
		require.Contains(t, r.err, want)
		require.Empty(t, d.requests())
	}
}

func TestAPIVerbMergesAllPagesOfAList(t *testing.T) {
	t.Parallel()
	d := answering(t, ok(example(t, "IPPoolList")), ok(lastPage(t, "IPPoolList")))
	r := d.done("api", "projects/{project}/pools", "--paginate", "-f", "labelSelector=a", "-o", "go-template={{len .items}} {{.nextCursor}}")
	require.Equal(t, "2 <no value>\n", r.out)
	require.Contains(t, d.requests()[1].uri, "labelSelector=a&limit=500&cursor=")
}

func TestAPIVerbShowsStatusAndHeaders(t *testing.T) {
	t.Parallel()
	r := answering(t, ok(example(t, "IPPool"))).done("api", "projects/{project}/pools/prod-eu", "-i")
	require.Regexp(t, "(?s)^HTTP 200 OK\n.*\nContent-Type: application/json\n.*\n\n{\n", r.out)
}
