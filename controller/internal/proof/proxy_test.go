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

// proxy stands between a controller and a server: it counts what is asked, cuts the two off from each other, and has watches of pods lag behind.
type proxy struct {
	*httptest.Server
	forward *httputil.ReverseProxy

	mu     sync.Mutex
	joined context.Context // ends when the two are cut off; nil while they are
	cutOff context.CancelFunc
	lag    time.Duration
	counts map[string]int
	// around, if there is one, is told of every write but those of leases and events: before it is sent on, and before its answer is. If it says so, that
	// is never sent.
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

// cut ends what is under way, and whatever is asked until they are joined.
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

// lags has watches of pods that begin from now on tell everything so much later.
func (p *proxy) lags(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lag = by
}

// tells has somebody told of writes from now on, or nobody.
func (p *proxy) tells(around func() (lost bool)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.around = around
}

// asked answers how often each thing was asked since it was called last.
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

// counted says whether a request changes something that a life of a pod is made of.
func counted(r *http.Request) bool {
	switch s := subject(r); {
	case strings.HasPrefix(s, http.MethodGet), strings.HasPrefix(s, "WATCH"):
		return false
	default:
		return !strings.HasSuffix(s, " leases") && !strings.HasSuffix(s, " events") && !strings.HasSuffix(s, " consumer-renewals")
	}
}

// subject is what a request is about: the method and the kind of thing, whatever its name.
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

// delay answers what a body says, so much later.
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
			_, _ = write.Write(p.text) // who does not read any more gets nothing
		}
		_ = write.Close()
	}()
	return closer{read, body}
}

// closer closes both ends.
type closer struct {
	io.ReadCloser
	source io.Closer
}

func (c closer) Close() error {
	_ = c.ReadCloser.Close()
	return c.source.Close()
}
