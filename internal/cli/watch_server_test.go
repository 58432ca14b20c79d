package cli_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/app"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// served returns a command line with a real server and a project with a pool. Every caller is an admin on this server.
func served(t *testing.T) *double {
	t.Helper()
	dsn := dbtest.New(t)
	d := operating(t)
	d.done("migrate", "-q", "--database-url", dsn)
	config, _, err := app.ParseConfig([]string{
		"--listen=127.0.0.1:0", "--database-url=" + dsn, "--auth=dev", "--max-connections=4", "--log-level=error", "--request-timeout=60s",
	}, nil)
	require.NoError(t, err)
	a, err := app.Start(t.Context(), config, t.Output())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close(context.WithoutCancel(t.Context()))) })
	d.env = map[string]string{"CARVE_SERVER": "http://" + a.Addr(), "CARVE_PROJECT": "team-a", "CARVE_DATABASE_URL": dsn, "CARVE_TIMEOUT": "2m"}
	d.done("project", "create", "team-a")
	d.done("pool", "create", "prod", "--cidr", "10.0.0.0/16")
	return d
}

// lines is a writer that sends each line of the output to a channel.
type lines struct {
	rest string
	to   chan string
}

func (l *lines) Write(text []byte) (int, error) {
	l.rest += string(text)
	for {
		line, rest, whole := strings.Cut(l.rest, "\n")
		if !whole {
			return len(text), nil
		}
		l.rest = rest
		l.to <- line
	}
}

// begin starts a command that runs until end is called. end returns the exit code.
func (d *double) begin(t *testing.T, args ...string) (out <-chan string, end func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &lines{to: make(chan string, 100)}
	code := make(chan int, 1)
	go func() { code <- d.runUntil(ctx, l, io.Discard, args...) }()
	return l.to, func() int { cancel(); return <-code }
}

// A watch shows the existing objects and then the changes. The test does that for every kind in the change feed. An interrupt ends the watch.
func TestEveryKindCanBeWatchedOnAServer(t *testing.T) {
	t.Parallel()
	d := served(t)
	d.done("class", "create", "own", "--family", "4")
	d.done("quota", "set", "few", "--claims", "9")
	d.done("alert-rule", "create", "most", "--about", "Quotas", "--percent", "10")
	d.done("claim", "create", "web", "--pool", "prod", "--prefix-length", "24", "--label", "env=prod")
	require.Eventually(t, func() bool { return d.done("alert", "list", "-q").out != "" }, time.Minute, 100*time.Millisecond)
	uid := strings.TrimSpace(d.done("allocation", "list", "-q").out)
	d.done("consumer", "attach", "web", "vm-1", "--realm", "rack")
	for name, c := range map[string]struct {
		watch  string
		change []string
		want   []string // the type and the name of each change
	}{
		"IPPool":       {"pool get prod", []string{"pool set prod --label a=b"}, []string{"Put prod", "Put prod"}},
		"IPClass":      {"class list -l !gone", []string{"class delete own"}, []string{"Put own", "Delete own"}},
		"Quota":        {"quota list", []string{"quota set few --claims 8"}, []string{"Put few", "Put few"}},
		"Alert":        {"alert list", []string{"alert-rule delete most"}, []string{"Put most/few", "Delete most/few"}},
		"IPConsumer":   {"consumer list --realm rack", []string{"consumer end vm-1"}, []string{"Put rack/vm-1"}},
		"IPAllocation": {"allocation list --held", []string{"claim set web --reclaim-policy Retain"}, []string{"Put " + uid, "Put " + uid}},
		"IPClaim": {
			"claim list -l env=prod", []string{"claim set web --label env=test", "claim set web --label env=prod"},
			[]string{"Put web", "Delete web", "Put web"},
		},
	} {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // what one changes, others would be told
			out, end := d.begin(t, append(strings.Fields(c.watch), "--watch", "-o", "json")...)
			last := ""
			for i, want := range c.want {
				if i > 0 {
					d.done(strings.Fields(c.change[i-1])...)
				}
				want = name + " " + want
				said := ""
				for said == "" || said == last && said != want { // the feed may repeat a change
					var told struct {
						Kind, Name, Type string
						Object           json.RawMessage
					}
					require.NoError(t, json.Unmarshal([]byte(<-out), &told))
					require.Equal(t, told.Type == "Put", told.Object != nil)
					said = told.Kind + " " + told.Type + " " + told.Name
				}
				require.Equal(t, want, said)
				last = said
			}
			require.Equal(t, 1, end(), "as kubectl ends")
		})
	}
}

func TestServerFeedContinuesAtItsCursor(t *testing.T) {
	t.Parallel()
	d := served(t)
	var at struct{ Cursor string }
	require.NoError(t, json.Unmarshal([]byte(d.done("changes", "-o", "json").out), &at))
	out, end := d.begin(t, "changes", "--follow", "--cursor", at.Cursor, "--kind", "IPClaim", "-q")
	d.done("claim", "create", "web", "--pool", "prod", "--prefix-length", "24")
	require.Equal(t, "IPClaim/web", <-out)
	d.done("claim", "delete", "web")
	require.Equal(t, "IPClaim/web", <-out)
	require.Equal(t, 1, end())
	require.Contains(t, d.done("changes", "--cursor", at.Cursor, "--name", "web").out, "Delete   deleteClaim")
}
