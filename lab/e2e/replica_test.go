package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// followed maps each kind in the change feed to the lists of the project that contain its objects.
var followed = map[string][]string{
	"IPPool": {"pools"}, "IPClaim": {"claims"}, "IPAllocation": {"allocations?holder=self"}, "IPClass": {"classes"}, "Quota": {"quotas"},
	"IPConsumer": {"realms/default/consumers", "realms/two/consumers"},
}

// replica is a copy of a project that follows its change feed. It uses the servers in turn. If one does not respond, it uses the next one.
type replica struct {
	project string
	sites   []*caller
	streams bool                         // by Server-Sent Events; otherwise by long poll
	loses   func(kind, name string) bool // for a faulty copy: reports which changes to skip
	forgets bool                         // for a faulty copy: resumes from now, and not from its cursor

	mu      sync.Mutex
	objects map[string]any // by kind and name
	cursor  string
	turns   int
	lists   int // how often the copy started again from the lists
	told    int // number of applied changes
}

func newReplica(project string, sites []*caller, with ...func(*replica)) *replica {
	r := &replica{project: project, sites: sites, objects: map[string]any{}}
	for _, f := range with {
		f(r)
	}
	return r
}

func byStream(r *replica) { r.streams = true }

// next returns the next server in turn.
func (r *replica) next() *caller {
	r.turns++
	return r.sites[r.turns%len(r.sites)]
}

// keep updates the copy until the context ends.
func (r *replica) keep(ctx context.Context, t testing.TB) {
	t.Helper()
	for ctx.Err() == nil {
		var again bool
		switch {
		case r.cursor == "":
			again = !r.list(ctx, t)
		case r.streams:
			again = !r.stream(ctx, t)
		default:
			again = !r.poll(ctx, t)
		}
		if again {
			pause(ctx)
		}
	}
}

// pause waits between two attempts.
func pause(ctx context.Context) { after(ctx, tick) }

// list starts the copy again from the lists. It returns false if a request fails.
func (r *replica) list(ctx context.Context, t testing.TB) bool {
	t.Helper()
	c := r.next()
	all, first, err := everything(ctx, t, c, r.project)
	if err != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.objects, r.cursor = all, first
	r.lists++
	return true
}

// everything returns all objects in the lists of a project. It also returns the cursor from which a follower must continue.
func everything(ctx context.Context, t testing.TB, c *caller, project string) (objects map[string]any, changes string, err error) {
	t.Helper()
	objects = map[string]any{}
	for _, kind := range slices.Sorted(maps.Keys(followed)) {
		for _, path := range followed[kind] {
			for cursor := ""; ; {
				var page struct {
					Items         []obj  `json:"items"`
					NextCursor    string `json:"nextCursor"`
					ChangesCursor string `json:"changesCursor"`
				}
				a, err := c.try(ctx, t, http.MethodGet, in(project, path), nil, query("limit=100"+cursor))
				if err != nil || !a.ok() {
					return nil, "", fmt.Errorf("GET %s: %d %w", path, a.status, err)
				}
				if err := json.Unmarshal(a.body, &page); err != nil {
					return nil, "", err
				}
				if changes == "" {
					changes = page.ChangesCursor
				}
				for _, o := range page.Items {
					if kind != "IPClass" || o["metadata"].(obj)["project"] == project { // the list of classes also contains classes of other projects
						objects[kind+" "+feedName(kind, o)] = constant(kind, o)
					}
				}
				if page.NextCursor == "" {
					break
				}
				cursor = "&cursor=" + page.NextCursor
			}
		}
	}
	return objects, changes, nil
}

// feedName returns the name of an object in the change feed.
func feedName(kind string, o obj) string {
	meta, status := o["metadata"].(obj), o["status"].(obj)
	switch kind {
	case "IPAllocation":
		return meta["uid"].(string)
	case "IPConsumer":
		return status["realm"].(string) + "/" + meta["name"].(string)
	default:
		return meta["name"].(string)
	}
}

// constant returns an object without the fields that change without a change event, such as figures and renewals.
func constant(kind string, o obj) obj {
	status := o["status"].(obj)
	switch kind {
	case "IPPool":
		for _, figure := range []string{"capacity", "utilizationPercent", "largestFreePrefixLength", "phase", "conditions"} {
			delete(status, figure)
		}
	case "IPClass", "Quota":
		delete(o, "status")
	case "IPConsumer":
		delete(status, "renewedAt")
		delete(status, "expiresAt")
		delete(o["metadata"].(obj), "revision")
	}
	return o
}

// change is one change in the change feed.
type change struct {
	Kind, Name, Type string
	Object           obj
}

// tell applies a change to the copy.
func (r *replica) tell(c change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told++
	switch {
	case r.loses != nil && r.loses(c.Kind, c.Name):
	case c.Type == "Put":
		r.objects[c.Kind+" "+c.Name] = constant(c.Kind, c.Object)
	default:
		delete(r.objects, c.Kind+" "+c.Name)
	}
}

// poll requests the changes once.
func (r *replica) poll(ctx context.Context, t testing.TB) bool {
	t.Helper()
	asked := "waitSeconds=1&limit=50"
	if !r.forgets {
		asked += "&after=" + url.QueryEscape(r.cursor)
	}
	a, err := r.next().try(ctx, t, http.MethodGet, in(r.project, "changes"), nil, query(asked))
	switch {
	case err != nil:
		return false
	case a.status == http.StatusGone:
		r.cursor = ""
		return true
	case !a.ok():
		return false
	}
	var page struct {
		Items  []change
		Cursor string
	}
	if err := json.Unmarshal(a.body, &page); err != nil {
		t.Error(err)
		return false
	}
	for _, c := range page.Items {
		r.tell(c)
	}
	r.cursor = page.Cursor
	return true
}

// stream follows the changes until the stream ends.
func (r *replica) stream(ctx context.Context, t testing.TB) bool {
	t.Helper()
	c := r.next()
	request, err := c.request(ctx, http.MethodGet, in(r.project, "changes"), nil, header("Accept", "text/event-stream"), header("Last-Event-ID", r.cursor))
	if err != nil {
		return false
	}
	resp, err := c.http.Do(request)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		if resp.StatusCode == http.StatusGone {
			r.cursor = ""
		}
		return false
	}
	event, data, next := "", "", ""
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "event":
			event = value
		case "data":
			data = value
		case "id":
			next = value
		case "": // an empty line ends an event
			r.event(t, event, data)
			if next != "" && r.cursor != "" {
				r.cursor = next
			}
			event, data, next = "", "", ""
		}
	}
	return false
}

func (r *replica) event(t testing.TB, event, data string) {
	t.Helper()
	switch event {
	case "change":
		var c change
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			t.Error(err)
			return
		}
		r.tell(c)
	case "end":
		if strings.Contains(data, `"cursor_expired"`) {
			r.cursor = ""
		}
	}
}

// differs returns the differences between the copy and the lists.
func (r *replica) differs(ctx context.Context, t testing.TB, c *caller) (what []string) {
	t.Helper()
	listed, _, err := everything(ctx, t, c, r.project)
	if err != nil {
		return []string{err.Error()}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, o := range listed {
		switch has, there := r.objects[name]; {
		case !there:
			what = append(what, name+" is missing")
		case !equal(o, has):
			what = append(what, fmt.Sprintf("%s is %v, and in the copy %v", name, o, has))
		}
	}
	for name := range r.objects {
		if _, there := listed[name]; !there {
			what = append(what, name+" is gone")
		}
	}
	slices.Sort(what)
	return what
}

func equal(a, b any) bool {
	one, errA := json.Marshal(a)
	other, errB := json.Marshal(b)
	return errA == nil && errB == nil && string(one) == string(other)
}

// settles waits until the copy is equal to the lists.
func (r *replica) settles(t testing.TB, c *caller) {
	t.Helper()
	var differs []string
	if !became(t.Context(), waitLimit/2, func() bool {
		differs = r.differs(t.Context(), t, c)
		return len(differs) == 0
	}) {
		require.Empty(t, differs)
	}
}

// became waits until a condition holds. It returns false after the time limit.
func became(ctx context.Context, limit time.Duration, is func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for ctx.Err() == nil {
		if is() {
			return true
		}
		pause(ctx)
	}
	return false
}
