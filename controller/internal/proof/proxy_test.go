package proof_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

// proxy connects a controller with a server. It counts the requests, can cut the connection, and can delay the watches of pods.
type proxy struct {
	*httptest.Server
	forward *httputil.ReverseProxy

	mu     sync.Mutex
	joined context.Context // ends at the cut; nil while the connection is cut
	cutOff context.CancelFunc
	lag    time.Duration
	counts map[string]int
	// around, if set, runs twice for each write except those to leases, events and renewals: before the proxy forwards the request, and before it
	// forwards the response. If it returns true, the proxy drops that message and the connection.
	around func() (lost bool)
}

func newProxy(to string, via http.RoundTripper) *proxy {
	target, err := url.Parse(to)
	if err != nil {
		panic(err)
	}
	p := &proxy{counts: map[string]int{}}
	p.forward = &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:      via,
		FlushInterval:  -1,
		ErrorLog:       slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ModifyResponse: p.answered,
	}
	p.join()
	p.Server = httptest.NewUnstartedServer(p)
	p.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	p.Start()
	return p
}

// cut ends all requests, and lets further requests fail until join.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutOff()
	p.joined = nil
}

func (p *proxy) join() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.joined == nil {
		p.joined, p.cutOff = context.WithCancel(context.Background())
	}
}

// lags delays the events of all watches of pods that begin afterwards.
func (p *proxy) lags(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lag = by
}

// tells sets the function for writes (around). nil sets none.
func (p *proxy) tells(around func() (lost bool)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.around = around
}

// asked returns the number of requests by subject since its last call.
func (p *proxy) asked() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	counts := p.counts
	p.counts = map[string]int{}
	return counts
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	joined := p.joined
	p.counts[subject(r)]++
	around := p.around
	p.mu.Unlock()
	if joined == nil {
		panic(http.ErrAbortHandler)
	}
	if around != nil && counted(r) && around() {
		panic(http.ErrAbortHandler)
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(joined, cancel)()
	p.forward.ServeHTTP(w, r.WithContext(ctx))
}

func (p *proxy) answered(answer *http.Response) error {
	p.mu.Lock()
	lag, around := p.lag, p.around
	p.mu.Unlock()
	if around != nil && counted(answer.Request) && around() {
		_ = answer.Body.Close()
		panic(http.ErrAbortHandler)
	}
	if lag > 0 && answer.Request.URL.Query().Get("watch") != "" && subject(answer.Request) == "WATCH pods" {
		answer.Body = delay(answer.Body, lag)
	}
	return nil
}

// counted reports whether the proxy calls around for a request: for each write except those to leases, events and renewals.
func counted(r *http.Request) bool {
	switch s := subject(r); {
	case strings.HasPrefix(s, http.MethodGet), strings.HasPrefix(s, "WATCH"):
		return false
	default:
		return !strings.HasSuffix(s, " leases") && !strings.HasSuffix(s, " events") && !strings.HasSuffix(s, " consumer-renewals")
	}
}

// subject returns the method and the kind of object of a request, without the object's name.
func subject(r *http.Request) string {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case parts[0] == "v1" && len(parts) > 3: // v1/projects/NAME/KIND
		parts = parts[3:]
	case parts[0] == "api" && len(parts) > 2: // api/v1/KIND
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3: // apis/GROUP/v1/KIND
		parts = parts[3:]
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	what := parts[0]
	if len(parts) > 2 {
		what += "/" + parts[2]
	}
	if r.URL.Query().Get("watch") != "" {
		return "WATCH " + what
	}
	return r.Method + " " + what
}

// delay returns a body whose contents arrive later by a duration.
func delay(body io.ReadCloser, by time.Duration) io.ReadCloser {
	type piece struct {
		text []byte
		due  time.Time
	}
	pieces := make(chan piece, 4096)
	read, write := io.Pipe()
	go func() {
		defer close(pieces)
		for {
			text := make([]byte, 16<<10)
			n, err := body.Read(text)
			pieces <- piece{text[:n], time.Now().Add(by)}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		for p := range pieces {
			<-time.After(time.Until(p.due))
			_, _ = write.Write(p.text) // fails if the reader has closed its end
		}
		_ = write.Close()
	}()
	return closer{read, body}
}

// closer closes the delayed body and its source.
type closer struct {
	io.ReadCloser
	source io.Closer
}

func (c closer) Close() error {
	_ = c.ReadCloser.Close()
	return c.source.Close()
}
