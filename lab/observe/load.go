package observe

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// load sends all kinds of requests that the dashboards show.
type load struct {
	eu, us string // addresses of servers
	http   *http.Client
	made   atomic.Int64 // counts the names that requests have used
}

func newLoad(eu, us string, d *door) *load {
	return &load{eu: eu, us: us, http: &http.Client{Timeout: 15 * time.Second, Transport: d.transport(512)}}
}

// ask sends a request, reads the response, and returns its status. It returns 0 if there is no response.
func (l *load) ask(ctx context.Context, addr, method, path, body string) int {
	r, err := http.NewRequestWithContext(ctx, method, "https://"+addr+"/v1/projects"+path, bytes.NewBufferString(body))
	if err != nil {
		return 0
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w, err := l.http.Do(r)
	if err != nil {
		return 0
	}
	defer w.Body.Close()
	if _, err := io.Copy(io.Discard, w.Body); err != nil {
		return 0
	}
	return w.StatusCode
}

func pool(name, spec string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{%s}}`, name, spec)
}

// furnish makes the project, classes and pools for the claims.
func (l *load) furnish(ctx context.Context) error {
	for _, made := range []struct{ path, body string }{
		{"", `{"metadata":{"name":"team"},"spec":{}}`},
		{"/team/classes", pool("standard", `"ipFamily":"IPv4","allowedPrefixLengths":{"min":28,"max":32},"defaultPrefixLength":30`)},
		{"/team/pools", pool("busy", `"cidr":"10.0.0.0/20"`)},
		{"/team/pools", pool("classy", `"cidr":"10.1.0.0/16","classNames":["standard"]`)},
		{"/team/pools", pool("hot", `"cidr":"10.3.0.0/16"`)},
		{"/team/classes", pool("scarce", `"ipFamily":"IPv4","allowedPrefixLengths":{"min":28,"max":32},"defaultPrefixLength":32`)},
		{"/team/pools", pool("full", `"cidr":"10.2.0.0/29","classNames":["scarce"]`)},
		{"/team/pools", pool("served", `"cidr":"10.64.0.0/12","regions":["eu","us"],"allocation":{"defaultPrefixLength":28}`)},
	} {
		if status := l.ask(ctx, l.eu, http.MethodPost, made.path, made.body); status != http.StatusCreated {
			return fmt.Errorf("POST %s %s: %d", made.path, made.body, status)
		}
	}
	for i := range 8 {
		if status := l.claim(ctx, l.eu, fmt.Sprint("all-", i), `"poolRef":{"name":"full"},"prefixLength":32`); status != http.StatusCreated {
			return fmt.Errorf("filling a pool: %d", status)
		}
	}
	return nil
}

func (l *load) claim(ctx context.Context, addr, name, spec string) int {
	return l.ask(ctx, addr, http.MethodPost, "/team/claims", pool(name, spec))
}

// run sends requests until ctx ends.
func (l *load) run(ctx context.Context) {
	var callers sync.WaitGroup
	several := func(n int, do func()) {
		for range n {
			callers.Go(func() {
				for ctx.Err() == nil {
					do()
				}
			})
		}
	}
	name := func() string { return fmt.Sprint("c-", l.made.Add(1)) }
	pause := func(d time.Duration) {
		select {
		case <-ctx.Done():
		case <-time.After(d):
		}
	}
	several(3, func() { // there are more claims than releases, so pools fill
		first, second := name(), name()
		l.claim(ctx, l.eu, first, `"poolRef":{"name":"busy"},"prefixLength":32`)
		l.claim(ctx, l.eu, second, `"poolRef":{"name":"busy"},"prefixLength":32`)
		l.ask(ctx, l.eu, http.MethodDelete, "/team/claims/"+second, "")
		pause(50 * time.Millisecond)
	})
	several(1, func() { l.claim(ctx, l.eu, name(), `"className":"standard"`); pause(20 * time.Millisecond) })
	several(1, func() {
		l.claim(ctx, l.eu, name(), `"className":"scarce"`)
		l.claim(ctx, l.eu, "all-0", `"poolRef":{"name":"busy"},"prefixLength":32`) // the name is already taken, so the service refuses the claim
		pause(20 * time.Millisecond)
	})
	several(2, func() { l.claim(ctx, l.us, name(), `"poolRef":{"name":"served"}`); pause(100 * time.Millisecond) })
	several(1, func() {
		l.ask(ctx, l.us, http.MethodGet, "/team/claims?limit=20", "")
		l.ask(ctx, l.eu, http.MethodGet, "/team/pools/busy", "")
		pause(50 * time.Millisecond)
	})
	several(60, func() { // far more than the queue of one pool admits
		c := name()
		if l.claim(ctx, l.eu, c, `"poolRef":{"name":"hot"},"prefixLength":32`) == http.StatusCreated {
			l.ask(ctx, l.eu, http.MethodDelete, "/team/claims/"+c, "")
		}
		pause(100 * time.Millisecond)
	})
	callers.Wait()
}
