package cli_test

import (
	"encoding/pem"
	"io"
	"log" //nolint:depguard // what net/http takes
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFlagsOverrideEnvironmentAndEnvironmentOverridesContext(t *testing.T) {
	t.Parallel()
	who := ok(example(t, "Whoami"))
	byContext, byEnvironment, byFlag := answering(t, who, who), answering(t, who), answering(t, who)
	d := secretive(t)
	d.set("a", apiKey, "--server", byContext.URL)
	d.env = map[string]string{"CARVE_CONFIG": d.config()}

	silent(t, d.done("whoami"))
	require.Equal(t, apiKey, byContext.requests()[0].bearer())

	d.env["CARVE_SERVER"], d.env["CARVE_API_KEY"] = byEnvironment.URL, otherKey
	silent(t, d.done("whoami", "-q"))
	require.Equal(t, otherKey, byEnvironment.requests()[0].bearer())

	silent(t, d.done("whoami", "-q", "--server", byFlag.URL))
	require.Len(t, byFlag.requests(), 1)

	silent(t, d.done("whoami", "--context", "a"))
	require.Len(t, byContext.requests(), 2, "a context that is named is a flag")
	require.Equal(t, apiKey, byContext.requests()[1].bearer())
}

func TestProjectComesFromFlagThenEnvironmentThenContext(t *testing.T) {
	t.Parallel()
	none := ok([]byte(`{"items":[]}`))
	d := secretive(t, none, none, none, none)
	d.set("a", "", "--server", d.URL, "--project", "by-context")
	list := func(args ...string) string {
		require.Zero(t, d.run(append([]string{"pool", "list"}, args...)...).code)
		return strings.Split(d.requests()[len(d.requests())-1].uri, "/")[3]
	}
	require.Equal(t, "team-a", list())
	require.Equal(t, "by-flag", list("-p", "by-flag"))
	require.Equal(t, "by-context", list("--context", "a"))
	delete(d.env, "CARVE_PROJECT")
	require.Equal(t, "by-context", list())
}

func TestCredentialIsSentOnlyToItsServer(t *testing.T) {
	t.Parallel()
	who := ok(example(t, "Whoami"))
	own := answering(t, who)
	t.Run("NotToTheServerOfAFlag", func(t *testing.T) {
		t.Parallel()
		d := secretive(t, who)
		d.set("a", apiKey, "--server", own.URL)
		delete(d.env, "CARVE_SERVER")
		r := d.done("whoami", "--server", d.URL)
		require.Empty(t, d.requests()[0].header.Get("Authorization"))
		require.Equal(t, d.URL+" is not the server of context a ("+own.URL+"): ipamctl does not send the context's credential there\n", r.err)
	})
	t.Run("NotToTheServerOfTheEnvironment", func(t *testing.T) {
		t.Parallel()
		d := secretive(t, who)
		d.set("a", apiKey, "--server", own.URL)
		require.Contains(t, d.done("whoami").err, "ipamctl does not send the context's credential there")
		require.Empty(t, d.requests()[0].header.Get("Authorization"))
	})
	t.Run("NotToAnotherPathOfTheHost", func(t *testing.T) {
		t.Parallel()
		d := secretive(t)
		d.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" {
				t.Error("the credential was sent to", r.URL)
			}
			w.WriteHeader(http.StatusTeapot)
		})
		d.set("a", apiKey, "--server", d.URL+"/carve")
		d.env["CARVE_SERVER"] = d.URL + "/other"
		require.NotZero(t, d.run("whoami").code)
	})
	t.Run("VariablesBelongTogether", func(t *testing.T) {
		t.Parallel()
		d := secretive(t, who)
		d.env["CARVE_SERVER"], d.env["CARVE_API_KEY"] = own.URL, apiKey
		require.Contains(t, d.done("whoami", "--server", d.URL).err, "ipamctl does not send CARVE_API_KEY there")
		require.Empty(t, d.requests()[0].header.Get("Authorization"))
	})
	t.Run("EquivalentURLIsTheSameServer", func(t *testing.T) {
		t.Parallel()
		d := secretive(t, who)
		d.set("a", apiKey, "--server", d.URL)
		delete(d.env, "CARVE_SERVER")
		require.Empty(t, d.done("whoami", "--server", strings.ToUpper(d.URL[:4])+d.URL[4:]+"/").err)
		require.Equal(t, apiKey, d.requests()[0].bearer())
	})
	t.Run("KeyVariableWithoutServerFollowsTheFlag", func(t *testing.T) {
		t.Parallel()
		d := secretive(t, who)
		delete(d.env, "CARVE_SERVER")
		d.env["CARVE_API_KEY"] = apiKey
		d.done("whoami", "--server", d.URL)
		require.Equal(t, apiKey, d.requests()[0].bearer())
	})
	t.Run("NotToARedirectTarget", func(t *testing.T) {
		t.Parallel()
		elsewhere := answering(t)
		d := secretive(t)
		d.Config.Handler = http.RedirectHandler(elsewhere.URL+"/v1/whoami", http.StatusTemporaryRedirect)
		d.set("a", apiKey, "--server", d.URL)
		r := d.run("whoami")
		require.Equal(t, 1, r.code)
		require.Contains(t, r.err, "it redirects to "+elsewhere.URL+"/v1/whoami, which ipamctl does not follow")
		require.Empty(t, elsewhere.requests())
	})
	require.Empty(t, own.requests())
}

// The address 0.0.0.0 reaches this machine, but it is no loopback address. The test uses it as the address of another host on every machine.
func TestCredentialIsNotSentInClearTextToAnotherHost(t *testing.T) {
	t.Parallel()
	d := secretive(t)
	d.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.seen = append(d.seen, sent{header: r.Header})
		w.WriteHeader(http.StatusTeapot)
	})
	seen := func() (credentials []string) {
		for _, s := range d.requests() {
			credentials = append(credentials, s.bearer())
		}
		return credentials
	}
	d.env["CARVE_SERVER"] = strings.Replace(d.URL, "127.0.0.1", "0.0.0.0", 1)
	d.run("whoami")
	require.Equal(t, []string{""}, seen(), "without a credential there is nothing to lose")

	d.env["CARVE_API_KEY"] = apiKey
	r := d.run("whoami")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, "is plain http, so others on the network can read the credential")
	require.Len(t, seen(), 1)
	d.run("whoami", "--insecure-http")
	require.Equal(t, []string{"", apiKey}, seen())

	delete(d.env, "CARVE_API_KEY")
	d.env["CARVE_SERVER"] = strings.Replace(d.env["CARVE_SERVER"], "://", "://me:hunter2@", 1)
	r = d.run("whoami")
	require.Equal(t, 2, r.code, "a password in the URL is a credential")
	require.NotContains(t, r.err, "hunter2")
	require.Len(t, seen(), 2)
}

func TestPrivateCAIsTrustedOnlyByItsFile(t *testing.T) {
	t.Parallel()
	who := example(t, "Whoami")
	d := secretive(t)
	secure := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(who)
	}))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	d.env["CARVE_SERVER"] = secure.URL
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600))

	require.Contains(t, d.run("whoami").err, "certificate signed by unknown authority")
	d.done("whoami", "--ca-file", ca)
	d.set("a", apiKey, "--server", secure.URL, "--ca-file", ca)
	d.done("whoami")
	require.Equal(t, 2, d.run("whoami", "--ca-file", "double_test.go").code)

	require.NoError(t, os.Remove(ca))
	r := d.run("whoami")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, "cannot read the CA's certificates")
}

func TestRefusalNamesTheCredentialByKeyID(t *testing.T) {
	t.Parallel()
	d := secretive(t, refusal(t, "ProblemUnauthenticated"), refusal(t, "ProblemUnauthenticated"), refusal(t, "ProblemUnauthenticated"), refusal(t, "ProblemNotFound"))
	get := []string{"pool", "get", "prod-eu"}
	require.Contains(t, d.run(get...).err, "credential:     none was sent; see 'ipamctl context set --help'")
	d.set("prod", apiKey, "--server", d.URL)
	require.Contains(t, d.run(get...).err, "credential:     key "+keyID+", from context prod\n")
	d.env["CARVE_API_KEY"] = "some-token"
	require.Contains(t, d.run(get...).err, "credential:     a token that is not an API key, from CARVE_API_KEY\n")
	require.NotContains(t, d.run(get...).err, "credential")
	d.env["CARVE_API_KEY"] = apiKey[:20]
	r := d.run(get...)
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, "CARVE_API_KEY: it starts like an API key but has ")
}

// The test runs every command that calls a server, in every format. The server echoes its requests.
func TestAPIKeySecretIsNeverPrinted(t *testing.T) {
	t.Parallel()
	turn := 0 // each verb uses the next format
	for _, credential := range []string{apiKey, "eyJhbGciOiJSUzI1NiJ9." + keySecret + ".c2ln"} {
		for name, handler := range map[string]http.HandlerFunc{
			"Echo": func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				_, _ = io.WriteString(w, r.Header.Get("Authorization"))
			},
			"Problem": func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/problem+json")
				w.WriteHeader(http.StatusUnauthorized)
				_, _ = io.WriteString(w, `{"code":"unauthenticated","status":401,"detail":"`+r.Header.Get("Authorization")+`"}`)
			},
			"Redirect": func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/?"+strings.ReplaceAll(r.Header.Get("Authorization"), " ", "="), http.StatusFound)
			},
			"Lost": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		} {
			turn++
			first := turn
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				d := secretive(t)
				var sent atomic.Int32
				d.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if strings.Contains(r.URL.String(), keySecret) {
						t.Error("in a URL:", r.URL)
					}
					if r.Header.Get("Authorization") == "Bearer "+credential {
						sent.Add(1)
					}
					handler(w, r)
				})
				d.set("a", credential, "--server", d.URL, "--project", "team-a")
				d.in = ""
				formats := []string{"table", "wide", "json", "yaml"}
				for i, verb := range everyVerb {
					silent(t, d.run(append(strings.Fields(verb), "-o", formats[(first+i)%len(formats)])...))
					silent(t, d.run(append(strings.Fields(verb), "--quiet")...))
				}
				require.Greater(t, int(sent.Load()), len(everyVerb), "it was there to be printed")
			})
		}
	}
}

var everyVerb = []string{
	"project list", "project get a", "project create a", "project delete a", "space list", "pool list", "pool get a", "pool free a", "pool utilization a", "pool tree",
	"pool create a --cidr 10.0.0.0/8", "pool delete a", "claim list", "claim create a --pool p", "claim put a --pool p", "claim delete a b",
	"allocation list", "version", "whoami", "member list", "member get a:b", "member set a:b --role viewer", "member remove a:b",
	"key list", "key get a", "key create a --role viewer", "key revoke a", "grant list --pool a", "grant add a --space b", "grant remove a --pool b",
	"quota list", "quota get a", "quota set a --claims 1", "quota delete a", "event list", "history 10.0.0.1",
}
