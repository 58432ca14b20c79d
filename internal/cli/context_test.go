package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestContextFileIsReadableOnlyByItsOwner(t *testing.T) {
	t.Parallel()
	d := secretive(t)
	d.set("prod", apiKey, "--server", "https://ipam.example.com", "--project", "team-a")
	info, err := os.Stat(d.config())
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode())
	dir, err := os.Stat(filepath.Dir(d.config()))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o700), dir.Mode().Perm())

	files, err := os.ReadDir(filepath.Dir(d.config()))
	require.NoError(t, err)
	require.Len(t, files, 1, "nothing else is left behind")
	text, err := os.ReadFile(d.config())
	require.NoError(t, err)
	require.Contains(t, string(text), apiKey, "it is kept to be sent")
}

func TestContextFileAccessibleToOthersIsRefused(t *testing.T) {
	t.Parallel()
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o620, 0o602, 0o644, 0o666, 0o777} {
		t.Run(fmt.Sprintf("%04o", mode), func(t *testing.T) {
			t.Parallel()
			d := secretive(t)
			d.set("prod", apiKey, "--server", d.URL)
			before, err := os.ReadFile(d.config())
			require.NoError(t, err)
			require.NoError(t, os.Chmod(d.config(), mode))
			for _, args := range [][]string{
				{"whoami"}, {"pool", "list"}, {"context", "list"}, {"context", "show"}, {"context", "set", "lab", "--project", "lab"},
				{"context", "use", "prod"}, {"context", "delete", "prod"},
			} {
				r := d.run(args...)
				require.Equal(t, 2, r.code, args)
				require.Contains(t, r.err, "chmod 600 '"+d.config()+"'")
				require.Contains(t, r.err, fmt.Sprintf("mode %04o", mode))
				silent(t, r)
			}
			require.Empty(t, d.requests())
			after, err := os.ReadFile(d.config())
			require.NoError(t, err)
			require.Equal(t, before, after)
		})
	}
	t.Run("ReadOnlyFileIsAccepted", func(t *testing.T) {
		t.Parallel()
		d := secretive(t, ok(example(t, "Whoami")))
		d.set("prod", apiKey, "--server", d.URL)
		require.NoError(t, os.Chmod(d.config(), 0o400))
		d.done("whoami")
	})
}

func TestContextFileIsFoundByEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct {
		env  map[string]string
		want string
	}{
		"ByItsVariable":  {map[string]string{"CARVE_CONFIG": dir + "/a.yaml", "XDG_CONFIG_HOME": dir + "/no", "HOME": dir + "/no"}, dir + "/a.yaml"},
		"ByXDG":          {map[string]string{"XDG_CONFIG_HOME": dir + "/xdg", "HOME": dir + "/no"}, dir + "/xdg/carve/config.yaml"},
		"ByHome":         {map[string]string{"HOME": dir + "/home"}, dir + "/home/.config/carve/config.yaml"},
		"NotByRelative":  {map[string]string{"XDG_CONFIG_HOME": "xdg", "HOME": dir + "/home2"}, dir + "/home2/.config/carve/config.yaml"},
		"NowhereIsUsage": {map[string]string{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t)
			d.env = c.env
			r := d.run("context", "set", "a", "--server", "http://127.0.0.1:1")
			if c.want == "" {
				require.Equal(t, 2, r.code)
				require.Contains(t, r.err, "set CARVE_CONFIG to a file, or set HOME")
				require.Contains(t, d.done("context", "list").err, "no contexts")
				return
			}
			require.Zero(t, r.code, r.err)
			require.FileExists(t, c.want)
		})
	}
}

func TestSymbolicLinkToTheContextFileIsKept(t *testing.T) {
	t.Parallel()
	d := secretive(t)
	d.set("a", "", "--server", "http://127.0.0.1:1")
	link := filepath.Join(t.TempDir(), "link.yaml")
	require.NoError(t, os.Symlink(d.config(), link))
	target := d.config()
	d.env["CARVE_CONFIG"] = link
	d.set("b", "", "--server", "http://127.0.0.1:2")
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&fs.ModeSymlink)
	d.env["CARVE_CONFIG"] = target
	require.Equal(t, "a\nb\n", d.done("context", "list", "-q").out)
}

func TestConcurrentContextSetsAreAllKept(t *testing.T) {
	t.Parallel()
	d := secretive(t)
	const many = 24
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			other := &double{t: t, env: d.env} // stands for another process
			r := other.run("context", "set", fmt.Sprintf("c%02d", i), "--server", "http://127.0.0.1:1")
			if r.code != 0 {
				t.Error(r.err)
			}
		})
	}
	all.Wait()
	require.Equal(t, many, strings.Count(d.done("context", "list", "-q").out, "\n"))
}

func TestContextListHidesSecrets(t *testing.T) {
	t.Parallel()
	d := secretive(t)
	d.set("prod", apiKey, "--server", "https://ipam.example.com", "--project", "team-a")
	d.set("sso", "eyJhbGciOiJSUzI1NiJ9."+keySecret+".c2ln", "--server", "https://sso.example.com")
	d.set("lab", "", "--server", "http://me:hunter2@127.0.0.1:8080")
	var all strings.Builder
	for _, args := range [][]string{
		{"context", "list"}, {"context", "list", "-o", "wide"}, {"context", "list", "-o", "json"}, {"context", "list", "-q"},
		{"context", "show"}, {"context", "show", "-o", "yaml"}, {"context", "show", "lab"}, {"context", "show", "sso", "-o", "json"},
		{"context", "use", "lab"}, {"context", "delete", "lab"}, {"context", "delete", "sso", "-q"}, {"context", "list"},
	} {
		r := d.done(args...)
		silent(t, r)
		require.NotContains(t, r.out, "hunter2")
		all.WriteString("$ ipamctl " + strings.Join(args, " ") + "\n" + r.out + r.err + "\n")
	}
	require.Contains(t, all.String(), keyID)
	requireGolden(t, "contexts", all.String())
}

func TestContextSetKeepsOmittedFields(t *testing.T) {
	t.Parallel()
	d := secretive(t)
	type shown struct{ Server, Project, KeyID, Credential string }
	show := func() (s shown) {
		require.NoError(t, json.Unmarshal([]byte(d.done("context", "show", "a", "-o", "json").out), &s))
		return s
	}
	d.set("a", apiKey, "--server", "https://a.example.com", "--project", "team-a")
	d.set("a", "", "--project", "team-b")
	require.Equal(t, shown{"https://a.example.com", "team-b", keyID, "key " + keyID}, show())
	d.set("a", "", "--server", "https://A.example.com:443/") // another spelling of the same server
	require.Equal(t, keyID, show().KeyID)
	d.set("a", "", "--project", "")
	require.Empty(t, show().Project)
	d.set("a", "", "--api-key-file", "")
	require.Equal(t, "none", show().Credential)
}

func TestContextSetRefusesANewServerForACredential(t *testing.T) {
	t.Parallel()
	d := secretive(t)
	d.set("a", apiKey, "--server", "https://a.example.com")
	r := d.run("context", "set", "a", "--server", "https://b.example.com")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, "the credential of context a is for https://a.example.com only")
	require.Contains(t, d.done("context", "list").out, "https://a.example.com")
	require.Contains(t, d.set("a", "", "--server", "https://b.example.com", "--api-key-file", "").out, "none")
	text, err := os.ReadFile(d.config())
	require.NoError(t, err)
	require.NotContains(t, string(text), keySecret)
}

func TestCredentialIsReadFromAFileOrATerminalOnly(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte("\n "+apiKey+"\r\n"), 0o600))
	t.Run("File", func(t *testing.T) {
		t.Parallel()
		d := secretive(t)
		d.set("a", "", "--server", d.URL, "--api-key-file", file)
		require.Contains(t, d.done("context", "show").out, keyID)
	})
	t.Run("Terminal", func(t *testing.T) {
		t.Parallel()
		d := secretive(t)
		d.in = "not this"
		d.secret = func(prompt string) ([]byte, error) {
			require.Equal(t, "API key: ", prompt)
			return []byte(apiKey), nil
		}
		r := d.done("context", "set", "a", "--server", d.URL, "--api-key-file", "-")
		silent(t, r)
		require.Contains(t, r.out, keyID)
	})
	for name, c := range map[string]struct{ key, want string }{
		"Empty":       {"  \n", "it is empty"},
		"TwoWords":    {apiKey + "\n" + apiKey, "it is not one word"},
		"Cut":         {apiKey[:len(apiKey)-1], "90 characters; a key has 91"},
		"Endless":     {strings.Repeat("a", 1<<20), "too long to be a credential"},
		"NotReadable": {"", "no such file"},
		"GivenItself": {"", "Revoke that key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := secretive(t)
			d.in = c.key
			from := map[string]string{"NotReadable": file + "-none", "GivenItself": apiKey}[name]
			if from == "" {
				from = "-"
			}
			r := d.run("context", "set", "a", "--server", d.URL, "--api-key-file", from)
			require.Equal(t, 2, r.code)
			require.Contains(t, r.err, c.want)
			silent(t, r)
			require.NoFileExists(t, d.config())
		})
	}
	t.Run("InterruptedPrompt", func(t *testing.T) {
		t.Parallel()
		d := secretive(t)
		d.secret = func(string) ([]byte, error) { return nil, errors.New("interrupted") }
		require.Equal(t, 2, d.run("context", "set", "a", "--server", d.URL, "--api-key-file", "-").code)
	})
}

func TestInvalidContextArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"NotAName":                {[]string{"context", "set", "Prod"}, `"Prod" is not the name of a context`},
		"ASecretAsName":           {[]string{"context", "set", "a", apiKey}, "takes one argument at most"},
		"ASecretAsTheName":        {[]string{"context", "set", apiKey}, "is not the name of a context"},
		"NotAServer":              {[]string{"context", "set", "a", "--server", "ipam.example.com"}, "the server must be a URL"},
		"NotAProject":             {[]string{"context", "set", "a", "--project", "../a"}, "is not the name of a project"},
		"NoCA":                    {[]string{"context", "set", "a", "--server", "https://a", "--ca-file", "double_test.go"}, "contains no PEM certificates"},
		"CAThatIsNotThere":        {[]string{"context", "set", "a", "--server", "https://a", "--ca-file", "none.pem"}, "cannot read the CA's certificates"},
		"KeyOfNoServer":           {[]string{"context", "set", "a", "--api-key-file", "-"}, "a credential needs a server"},
		"NamedTwice":              {[]string{"context", "set", "a", "--context", "b"}, "give the name of the context as the argument only"},
		"UseOfAMissingContext":    {[]string{"context", "use", "none"}, `there is no context "none"`},
		"ShowOfAMissingContext":   {[]string{"context", "show", "none"}, `there is no context "none"`},
		"ShowOfNoCurrent":         {[]string{"context", "show"}, "there is no current context"},
		"DeleteOfAMissingContext": {[]string{"context", "delete", "none"}, `there is no context "none"`},
		"VerbInNone":              {[]string{"pool", "list", "--context", "none"}, `there is no context "none"`},
		"SecretAsAFlag":           {[]string{"context", "set", "a", "--api-key=" + apiKey}, "unknown flag: --api-key"},
		"SecretAsAFlagOfAVerb":    {[]string{"whoami", "--token", apiKey}, "unknown flag: --token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := secretive(t)
			d.in = apiKey
			r := d.run(c.args...)
			require.Equal(t, 2, r.code, r.err)
			require.Contains(t, r.err, c.want)
			require.NoFileExists(t, d.config())
			silent(t, r)
		})
	}
}

func TestInvalidContextFileIsNamedButNotQuoted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"NotYAML":       {"contexts: [" + apiKey, "it is not a file of contexts"},
		"Unknown":       {"contexts: {a: {server: 'https://a', secret: " + apiKey + "}}", "it is not a file of contexts"},
		"Shape":         {"contexts: " + apiKey, "it is not a file of contexts"},
		"Name":          {"contexts: {A: {}}", `"A" is not the name of a context`},
		"Server":        {"contexts: {a: {server: 'http://me:hunter2@'}}", "the server must be a URL"},
		"KeyOfNoServer": {"contexts: {a: {apiKey: " + apiKey + "}}", "has an apiKey but no server"},
		"BrokenKey":     {"contexts: {a: {server: 'https://a', apiKey: " + apiKey + "x}}", "92 characters; a key has 91"},
		"LostCurrent":   {"current: gone", `there is no context "gone"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := secretive(t)
			d.write(c.text)
			r := d.run("whoami")
			require.Equal(t, 2, r.code)
			require.Contains(t, r.err, c.want)
			require.NotContains(t, r.err, "hunter2")
			silent(t, r)
			require.Empty(t, d.requests())
		})
	}
	t.Run("EmptyFileHasNoContexts", func(t *testing.T) {
		t.Parallel()
		d := secretive(t, ok(example(t, "Whoami")))
		d.write("")
		d.done("whoami")
	})
	t.Run("Directory", func(t *testing.T) {
		t.Parallel()
		d := secretive(t)
		require.NoError(t, os.MkdirAll(d.config(), 0o700))
		require.Contains(t, d.run("whoami").err, "is not a file")
	})
}

func TestShellsCompleteContexts(t *testing.T) {
	t.Parallel()
	d := secretive(t)
	d.set("prod", apiKey, "--server", d.URL)
	require.Contains(t, d.done("__complete", "context", "use", "").out, "prod\n")
	require.Contains(t, d.done("__complete", "pool", "list", "--context", "").out, "prod\n")
}
