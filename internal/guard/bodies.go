package guard

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// Pace is how slowly a body may come.
type Pace struct {
	Grace time.Duration // before the rate counts
	Rate  int64         // bytes a second
	Most  time.Duration // for a whole body
}

// Bodies are held back from a handler until they are there: a request whose body is still to come has no work to do, and should not
// take a place among those that are worked on. Meanwhile its connection counts as waiting (Clients).
//
//   - Up to Small bytes are read ahead for everybody. What has not come counts for nothing, so this costs what was really sent.
//   - Up to Large bytes are read ahead for LargeAtOnce requests at once. Others wait for their turn as long as the grace of the pace, and then reading
//     their body fails with ErrCrowded. Who sends large bodies slowly keeps only other large ones out.
//   - A body that is larger, or of a client that expects to be asked for it (Expect: 100-continue), is not read ahead.
//
// Reading a body fails with os.ErrDeadlineExceeded when it comes more slowly than the pace. http.Server.ReadTimeout has to leave time for the
// largest body, and so lets the smallest one take as long.
type Bodies struct {
	Pace        Pace
	Small       int64
	Large       int64
	LargeAtOnce int
}

// ErrCrowded is how reading a large body fails while too many others are on their way.
var ErrCrowded = errors.New("too many large bodies are on their way")

// rest is how long the rest of a body that nobody wants is waited for, so that the client has sent it and reads the answer.
const rest = time.Second

// Handler is next with bodies held back.
func (b Bodies) Handler(next http.Handler) http.Handler {
	turns := make(chan struct{}, b.LargeAtOnce)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 { // there may have been a length as well, which the server has taken away: RFC 9112, 6.1
			w.Header().Set("Connection", "close")
		}
		deadline, ok := w.(deadliner)
		if !ok || r.ContentLength == 0 || r.Body == nil {
			next.ServeHTTP(w, r)
			return
		}
		body := &heldBody{ReadCloser: r.Body, deadline: deadline, pace: b.Pace}
		mine := r.WithContext(r.Context()) // a shallow copy: the server looks at its own request's body, to see whether the connection can be kept
		mine.Body = body
		if r.ContentLength <= b.Large && r.Header.Get("Expect") == "" {
			done := waiting(r.Context())
			b.readAhead(body, r.ContentLength, turns)
			done()
		}
		next.ServeHTTP(w, mine)
		if !body.ended { // nobody wanted all of it; the server reads some of the rest before it sends the answer
			_ = deadline.SetReadDeadline(time.Now().Add(min(rest, b.Pace.Grace)))
		}
	})
}

// readAhead reads what may be read ahead of a body, whose length is -1 when it is not known.
func (b Bodies) readAhead(body *heldBody, length int64, turns chan struct{}) {
	if length <= b.Small {
		body.readAhead(b.Small)
	}
	if body.ended || body.err != nil {
		return
	}
	over := time.NewTimer(b.Pace.Grace)
	defer over.Stop()
	select {
	case turns <- struct{}{}:
		defer func() { <-turns }()
		body.readAhead(b.Large)
	case <-over.C:
		body.err = ErrCrowded
	}
}

// deadliner is what the server's own ResponseWriters can do.
type deadliner interface{ SetReadDeadline(at time.Time) error }

// heldBody is a body of which some was read ahead.
type heldBody struct {
	io.ReadCloser
	deadline deadliner
	pace     Pace
	ahead    bytes.Buffer
	begun    time.Time
	read     int64
	ended    bool  // of what the client sends: the server has taken the deadline away, and it must not be set again
	err      error // how reading ahead ended, other than with the body
}

// Read implements io.Reader.
func (b *heldBody) Read(p []byte) (int, error) {
	switch {
	case b.ahead.Len() > 0:
		return b.ahead.Read(p)
	case b.err != nil:
		return 0, b.err
	default:
		return b.readNow(p)
	}
}

// readNow reads what the client sends, at its pace.
func (b *heldBody) readNow(p []byte) (int, error) {
	if b.ended {
		return b.ReadCloser.Read(p)
	}
	if b.begun.IsZero() {
		b.begun = time.Now()
	}
	until := min(b.pace.Most, b.pace.Grace+time.Duration(b.read)*time.Second/time.Duration(b.pace.Rate))
	if err := b.deadline.SetReadDeadline(b.begun.Add(until)); err != nil {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	b.ended = err != nil
	return n, err
}

// readAhead reads until there are more than so many bytes, or the body ends.
func (b *heldBody) readAhead(most int64) {
	if _, err := b.ahead.ReadFrom(io.LimitReader(reading(b.readNow), most+1-b.read)); err != nil {
		b.err = err
	}
}

type reading func(p []byte) (int, error)

// Read implements io.Reader.
func (r reading) Read(p []byte) (int, error) { return r(p) }

// connection is the key of a request's own connection in its context.
type connection struct{}

// Context is http.Server.ConnContext: it lets a request that waits for its body say so.
func (c *Clients) Context(ctx context.Context, conn net.Conn) context.Context {
	if mine := own(conn); mine != nil {
		return context.WithValue(ctx, connection{}, mine)
	}
	return ctx
}

// waiting has the connection of a request count as waiting until done.
func waiting(ctx context.Context) (done func()) {
	k, ok := ctx.Value(connection{}).(*client)
	if !ok {
		return func() {}
	}
	k.clients.wait(k)
	return func() { k.clients.work(k) }
}
