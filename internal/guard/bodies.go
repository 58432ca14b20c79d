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

// Pace is the minimum speed of a body.
type Pace struct {
	Grace time.Duration // time before the rate applies
	Rate  int64         // bytes per second
	Most  time.Duration // maximum time for a whole body
}

// Bodies reads bodies before the handler runs: a request without its body has no work yet, and should not take a slot of concurrent requests.
// Meanwhile its connection counts as waiting (Clients).
//
//   - It reads up to Small bytes ahead for every request. The buffer grows with the received bytes, so it costs only the bytes that the client sent.
//   - It reads up to Large bytes ahead for LargeAtOnce requests at once. Other requests wait up to the pace's grace for their turn, and then reading
//     their body fails with ErrTooManyBodies. A client that sends large bodies slowly blocks only other large bodies.
//   - It does not read ahead a larger body, or one whose client expects 100-continue.
//
// Reading a body fails with os.ErrDeadlineExceeded if the body is slower than the pace. http.Server.ReadTimeout alone cannot do this: it must leave
// time for the largest body, and so gives the smallest one as much.
type Bodies struct {
	Pace        Pace
	Small       int64
	Large       int64
	LargeAtOnce int
}

// ErrTooManyBodies is the error of reading a large body while too many others are in progress.
var ErrTooManyBodies = errors.New("the server already receives too many large bodies")

// rest is the time to wait for the rest of a body that the handler did not read, so that the client finishes sending and reads the response.
const rest = time.Second

// Handler wraps next so that it runs after its body was read ahead.
func (b Bodies) Handler(next http.Handler) http.Handler {
	turns := make(chan struct{}, b.LargeAtOnce)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 { // the server has removed any Content-Length beside it: RFC 9112, 6.1
			w.Header().Set("Connection", "close")
		}
		deadline, ok := w.(deadliner)
		if !ok || r.ContentLength == 0 || r.Body == nil {
			next.ServeHTTP(w, r)
			return
		}
		body := &heldBody{ReadCloser: r.Body, deadline: deadline, pace: b.Pace}
		mine := r.WithContext(r.Context()) // a shallow copy: the server inspects its own request's body to decide whether to keep the connection
		mine.Body = body
		if r.ContentLength <= b.Large && r.Header.Get("Expect") == "" {
			done := waiting(r.Context())
			b.readAhead(body, r.ContentLength, turns)
			done()
		}
		next.ServeHTTP(w, mine)
		if !body.ended { // the handler did not read all of it; the server reads some of the rest before it sends the response
			_ = deadline.SetReadDeadline(time.Now().Add(min(rest, b.Pace.Grace)))
		}
	})
}

// readAhead reads the part of a body that may be read ahead. length is -1 if unknown.
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
		body.err = ErrTooManyBodies
	}
}

// deadliner is implemented by the server's own ResponseWriters.
type deadliner interface{ SetReadDeadline(at time.Time) error }

// heldBody is a body with a part read ahead.
type heldBody struct {
	io.ReadCloser
	deadline deadliner
	pace     Pace
	ahead    bytes.Buffer
	begun    time.Time
	read     int64
	ended    bool  // the client's data has ended: the server has removed the deadline, and nothing may set it again
	err      error // the error that ended the reading ahead, unless it is io.EOF
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

// readNow reads from the client, and sets the deadline by the pace.
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

// readAhead reads until it has more than most bytes, or the body ends.
func (b *heldBody) readAhead(most int64) {
	if _, err := b.ahead.ReadFrom(io.LimitReader(reading(b.readNow), most+1-b.read)); err != nil {
		b.err = err
	}
}

type reading func(p []byte) (int, error)

// Read implements io.Reader.
func (r reading) Read(p []byte) (int, error) { return r(p) }

// connection is the context key of a request's own connection.
type connection struct{}

// Context implements http.Server.ConnContext: it lets a request mark its connection as waiting.
func (c *Clients) Context(ctx context.Context, conn net.Conn) context.Context {
	if mine := own(conn); mine != nil {
		return context.WithValue(ctx, connection{}, mine)
	}
	return ctx
}

// waiting marks a request's connection as waiting until done.
func waiting(ctx context.Context) (done func()) {
	k, ok := ctx.Value(connection{}).(*client)
	if !ok {
		return func() {}
	}
	k.clients.wait(k)
	return func() { k.clients.work(k) }
}
