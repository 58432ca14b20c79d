package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// tenant is a caller who works in projects.
type tenant struct {
	t            *testing.T
	base, bearer string
}

func (c tenant) do(method, path string, body any, header ...string) (int, map[string]any) {
	c.t.Helper()
	var text io.Reader = http.NoBody
	if body != nil {
		b, err := json.Marshal(body)
		require.NoError(c.t, err)
		text = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(context.WithoutCancel(c.t.Context()), method, c.base+path, text)
	require.NoError(c.t, err)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+c.bearer)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w, err := http.DefaultClient.Do(r)
	require.NoError(c.t, err)
	defer w.Body.Close()
	var answer map[string]any
	data, err := io.ReadAll(w.Body)
	require.NoError(c.t, err)
	if len(data) > 0 {
		require.NoErrorf(c.t, json.Unmarshal(data, &answer), "%s", data)
	}
	return w.StatusCode, answer
}

func (c tenant) must(status int, method, path string, body any, header ...string) map[string]any {
	c.t.Helper()
	got, answer := c.do(method, path, body, header...)
	require.Equalf(c.t, status, got, "%s %s: %v", method, path, answer)
	return answer
}

// furnish creates a project with a pool.
func (c tenant) furnish(project string) {
	c.must(http.StatusCreated, http.MethodPost, "/v1/projects", map[string]any{"metadata": map[string]any{"name": project}, "spec": map[string]any{}})
	c.must(http.StatusCreated, http.MethodPost, "/v1/projects/"+project+"/pools", map[string]any{"metadata": map[string]any{"name": "net"}, "spec": map[string]any{"cidr": "10.0.0.0/16"}})
}

func (c tenant) claim(project, name string, spec map[string]any, labels map[string]any) (int, map[string]any) {
	all := map[string]any{"poolRef": map[string]any{"name": "net"}, "prefixLength": 32}
	maps.Copy(all, spec)
	meta := map[string]any{"name": name}
	if labels != nil {
		meta["labels"] = labels
	}
	return c.do(http.MethodPost, "/v1/projects/"+project+"/claims", map[string]any{"metadata": meta, "spec": all})
}

// listed returns all objects of a project from the lists, by kind and name. It also returns the cursor from which to follow the changes.
func (c tenant) listed(project string) (all map[string]any, cursor string) {
	all = map[string]any{}
	for kind, path := range map[string]string{"IPPool": "pools?", "IPClaim": "claims?", "IPAllocation": "allocations?holder=self&", "IPClass": "classes?", "Quota": "quotas?"} {
		next := ""
		for {
			page := c.must(http.StatusOK, http.MethodGet, "/v1/projects/"+project+"/"+path+"limit=100"+next, nil)
			require.NotEmpty(c.t, page["changesCursor"])
			if cursor == "" {
				cursor, _ = page["changesCursor"].(string)
			}
			for _, item := range page["items"].([]any) {
				one := item.(map[string]any)
				all[kind+"/"+one["metadata"].(map[string]any)["name"].(string)] = plain(kind, one)
			}
			if page["nextCursor"] == nil {
				break
			}
			next = "&cursor=" + page["nextCursor"].(string)
		}
	}
	return all, cursor
}

// plain removes the status of kinds whose status changes with every claim.
func plain(kind string, one map[string]any) map[string]any {
	if kind == "IPPool" || kind == "IPClass" || kind == "Quota" {
		delete(one, "status")
	}
	return one
}

// replica is a copy of a project's objects. The feed of changes keeps it up to date.
type replica struct {
	objects map[string]any
	cursor  string
}

func (r *replica) apply(change map[string]any) {
	kind := change["kind"].(string)
	name := kind + "/" + change["name"].(string)
	if change["type"] == "Delete" {
		delete(r.objects, name)
		return
	}
	r.objects[name] = plain(kind, change["object"].(map[string]any))
}

// poll requests the next changes once. It reports whether there were any.
func (r *replica) poll(c tenant, project string, wait int) bool {
	page := c.must(http.StatusOK, http.MethodGet, fmt.Sprintf("/v1/projects/%s/changes?after=%s&waitSeconds=%d&limit=20", project, url.QueryEscape(r.cursor), wait), nil)
	for _, item := range page["items"].([]any) {
		r.apply(item.(map[string]any))
	}
	r.cursor = page["cursor"].(string)
	return len(page["items"].([]any)) > 0
}

// A replica that follows the feed must equal the lists of every server, even if one server stops meanwhile.
func TestReplicaKeptByTheFeedEqualsTheLists(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	flags := []string{"--auth=dev", "--database-url=" + dsn}
	first, stop := launch(t, flags...)
	second, _ := launch(t, flags...)
	servers := []tenant{{t, "http://" + first.Addr(), ""}, {t, "http://" + second.Addr(), ""}}
	const project = "team-a"
	servers[0].furnish(project)
	for i := range 30 {
		status, answer := servers[0].claim(project, fmt.Sprintf("before-%d", i), nil, nil)
		require.Equal(t, http.StatusCreated, status, answer)
	}
	objects, cursor := servers[1].listed(project)
	copied := &replica{objects: objects, cursor: cursor}

	done := make(chan struct{})
	var busy sync.WaitGroup
	for w := range 3 {
		busy.Go(func() { work(servers[1], project, w) })
	}
	go func() {
		busy.Wait()
		close(done)
	}()
	polls, stopped := 0, false
	for working := true; working; {
		select {
		case <-done:
			working = false
		default:
		}
		from := servers[1]
		if !stopped && polls%2 == 0 {
			from = servers[0]
		}
		copied.poll(from, project, 1)
		if polls++; polls == 20 {
			stop()
			stopped = true
		}
	}
	for copied.poll(servers[1], project, 0) {
	}
	want, _ := servers[1].listed(project)
	require.Equal(t, want, copied.objects)
	require.Greater(t, len(want), 10)
}

// work makes random changes of all kinds.
func work(c tenant, project string, worker int) {
	random := rand.New(rand.NewPCG(uint64(worker), 1))
	in := "/v1/projects/" + project
	for i := range 60 {
		name := fmt.Sprintf("w%d-%d", worker, random.IntN(12))
		switch random.IntN(9) {
		case 0, 1, 2:
			spec := map[string]any{}
			if random.IntN(3) == 0 {
				spec["reclaimPolicy"] = "Retain"
			}
			c.claim(project, name, spec, map[string]any{"n": fmt.Sprint(i)})
		case 3, 4, 5:
			c.do(http.MethodDelete, in+"/claims/"+name, nil)
		case 6:
			c.do(http.MethodPost, in+"/pools", map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{"parentRef": map[string]any{"name": "net"}, "prefixLength": 28}})
		case 7:
			c.do(http.MethodDelete, in+"/pools/"+name, nil)
		case 8:
			c.do(http.MethodPut, in+"/quotas/"+name, map[string]any{"spec": map[string]any{"limits": map[string]any{"claims": 100000 + i}}})
			c.do(http.MethodDelete, in+"/quotas/"+name, nil)
			c.retained(project)
		}
	}
}

// retained deletes one of the project's retained allocations.
func (c tenant) retained(project string) {
	_, page := c.do(http.MethodGet, "/v1/projects/"+project+"/allocations?holder=self&phase=Retained&limit=1", nil)
	if items, _ := page["items"].([]any); len(items) > 0 {
		name := items[0].(map[string]any)["metadata"].(map[string]any)["name"].(string)
		c.do(http.MethodDelete, "/v1/projects/"+project+"/allocations/"+name, nil)
	}
}

// event is one server-sent event.
type event struct {
	name, id string
	data     map[string]any
}

// events opens a stream and returns a channel of its events. The channel is closed when the stream ends.
func (c tenant) events(ctx context.Context, path string, header ...string) <-chan event {
	c.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, http.NoBody)
	require.NoError(c.t, err)
	r.Header.Set("Accept", "text/event-stream")
	if c.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+c.bearer)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w, err := http.DefaultClient.Do(r)
	require.NoError(c.t, err)
	require.Equal(c.t, http.StatusOK, w.StatusCode)
	require.Equal(c.t, "text/event-stream", w.Header.Get("Content-Type"))
	out := make(chan event, 1000)
	go func() {
		defer close(out)
		defer w.Body.Close()
		var e event
		for lines := bufio.NewScanner(w.Body); lines.Scan(); {
			field, value, _ := strings.Cut(lines.Text(), ": ")
			switch field {
			case "event":
				e.name = value
			case "id":
				e.id = value
			case "data":
				_ = json.Unmarshal([]byte(value), &e.data)
			case "":
				if e.name != "" {
					out <- e
				}
				e = event{}
			}
		}
	}()
	return out
}

// next returns the next event that is not a bookmark. The server sends bookmarks while there are no changes.
func next(t *testing.T, events <-chan event) event {
	t.Helper()
	for {
		select {
		case e, open := <-events:
			require.True(t, open, "the stream has ended")
			if e.name != "bookmark" {
				return e
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("nothing comes")
		}
	}
}

func TestEventStreamReportsChangesAndIsResumed(t *testing.T) {
	t.Parallel()
	a, stop := launch(t, "--auth=dev", "--database-url="+dbtest.New(t))
	c := tenant{t, "http://" + a.Addr(), ""}
	c.furnish("team-a")
	_, cursor := c.listed("team-a")
	ctx, leave := context.WithCancel(t.Context())
	events := c.events(ctx, "/v1/projects/team-a/changes?resourceKind=IPClaim&labelSelector=tier%3Dweb&after="+cursor)
	for _, name := range []string{"one", "two"} {
		status, answer := c.claim("team-a", name, nil, map[string]any{"tier": "web"})
		require.Equal(t, http.StatusCreated, status, answer)
	}
	told := map[string]bool{}
	fresh := func(events <-chan event) event { // skips repeats, because the feed may send a change more than once
		for {
			e := next(t, events)
			if what := fmt.Sprint(e.data["type"], e.data["name"]); e.name != "change" || !told[what] {
				told[what] = true
				return e
			}
		}
	}
	e := fresh(events)
	require.Equal(t, []any{"change", "Put", "one"}, []any{e.name, e.data["type"], e.data["name"]})
	require.Equal(t, "createClaim", e.data["operation"])
	leave()

	again := c.events(t.Context(), "/v1/projects/team-a/changes?resourceKind=IPClaim&labelSelector=tier%3Dweb", "Last-Event-ID", e.id)
	require.Equal(t, "two", fresh(again).data["name"], "from now on nothing would be told of it")
	claim := c.must(http.StatusOK, http.MethodGet, "/v1/projects/team-a/claims/one", nil)
	tag := claim["metadata"].(map[string]any)["etag"]
	if tag == nil {
		tag = fmt.Sprintf("%q", claim["metadata"].(map[string]any)["revision"])
	}
	w := c.must(http.StatusOK, http.MethodPatch, "/v1/projects/team-a/claims/one", map[string]any{"metadata": map[string]any{"labels": map[string]any{"tier": "db"}}},
		"If-Match", fmt.Sprint(tag), "Content-Type", "application/merge-patch+json")
	require.NotEmpty(t, w)
	e = fresh(again)
	require.Equal(t, []any{"Delete", "one"}, []any{e.data["type"], e.data["name"]}, "what has no such labels any more is gone to this follower")
	c.must(http.StatusNoContent, http.MethodDelete, "/v1/projects/team-a/claims/two", nil)
	e = fresh(again)
	require.Equal(t, []any{"Delete", "two"}, []any{e.data["type"], e.data["name"]}, "%v", e)

	stop()
	e = fresh(again)
	require.Equal(t, []any{"end", "unavailable"}, []any{e.name, e.data["code"]})
	require.NotEmpty(t, e.id)
	_, open := <-again
	require.False(t, open)
}

func TestFollowerWithoutRightsGetsNoMoreChanges(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	a, _ := launch(t, "--auth=keys", "--database-url="+dsn)
	root, err := Bootstrap(t.Context(), dsn, "local")
	require.NoError(t, err)
	admin := tenant{t, "http://" + a.Addr(), root}
	admin.furnish("team-a")
	admin.furnish("team-b")
	made := admin.must(http.StatusCreated, http.MethodPost, "/v1/projects/team-a/api-keys", map[string]any{"metadata": map[string]any{"name": "reader"}, "spec": map[string]any{"role": "viewer"}})
	reader := tenant{t, admin.base, tokenIn.FindString(fmt.Sprint(made))}
	require.NotEmpty(t, reader.bearer)
	reader.must(http.StatusNotFound, http.MethodGet, "/v1/projects/team-b/changes", nil)
	_, other := admin.listed("team-b")
	reader.must(http.StatusGone, http.MethodGet, "/v1/projects/team-a/changes?after="+other, nil)

	events := reader.events(t.Context(), "/v1/projects/team-a/changes")
	status, answer := admin.claim("team-a", "one", nil, nil)
	require.Equal(t, http.StatusCreated, status, answer)
	require.Equal(t, "one", next(t, events).data["name"])
	require.Equal(t, "IPAllocation", next(t, events).data["kind"])
	admin.must(http.StatusNoContent, http.MethodDelete, "/v1/projects/team-a/api-keys/reader", nil)
	e := next(t, events)
	require.Equal(t, []any{"end", "unauthenticated"}, []any{e.name, e.data["code"]})
}

func TestInvalidFeedCursorIsRefused(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	a, _ := launch(t, "--auth=dev", "--database-url="+dsn)
	c := tenant{t, "http://" + a.Addr(), ""}
	c.furnish("team-a")
	c.must(http.StatusBadRequest, http.MethodGet, "/v1/projects/team-a/changes?after=abc", nil)
	gone := c.must(http.StatusGone, http.MethodGet, "/v1/projects/team-a/changes?after="+strings.Repeat("QUJD", 20), nil)
	require.Equal(t, "cursor_expired", gone["code"])
	require.Contains(t, gone["detail"], "another project or database")
	c.must(http.StatusNotAcceptable, http.MethodGet, "/v1/projects/team-a/claims", nil, "Accept", "text/event-stream")
	_, cursor := c.listed("team-a")
	c.must(http.StatusOK, http.MethodGet, "/v1/projects/team-a/changes?after="+cursor, nil)
	_, err := a.store.ExpireEvents(t.Context(), a.store.Now().Add(time.Hour), 100)
	require.NoError(t, err)
	gone = c.must(http.StatusGone, http.MethodGet, "/v1/projects/team-a/changes?after="+cursor, nil)
	require.Equal(t, "cursor_expired", gone["code"], "the trail was cut behind it")
	require.Contains(t, gone["detail"], "has deleted changes")
}
