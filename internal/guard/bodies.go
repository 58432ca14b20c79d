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

// Pace is the minimum speed at which a client must send a body.
type Pace struct {
	Grace   time.Duration // time before the rate applies
	Rate    int64         // bytes per second
	Longest time.Duration // maximum time for a whole body
}

// Bodies reads bodies before the handler runs. A request has no work to do before its body has arrived, so it should not take a request slot earlier.
// Until then, its connection counts as waiting (Clients).
//
//   - Bodies reads up to Small bytes ahead for every request. The buffer grows with the received bytes, so it costs only the bytes that the client
//     has sent.
//   - Bodies reads up to Large bytes ahead for at most LargeAtOnce requests at the same time. Another request waits up to Pace.Grace for its turn.
//     After that, a read of its body fails with ErrTooManyBodies. So a client that sends large bodies slowly blocks only other large bodies.
//   - Bodies does not read ahead if the body is larger than Large, or if the client expects 100-continue.
//
// A read of a body fails with os.ErrDeadlineExceeded if the client is slower than Pace. The ReadTimeout of http.Server alone is not enough. It must
// leave time for the largest body, and so it gives the same time to the smallest body.
type Bodies struct {
	Pace        Pace
	Small       int64
	Large       int64
	LargeAtOnce int
}

// ErrTooManyBodies is the error from a large body's Read while the server already receives too many large bodies.
var ErrTooManyBodies = errors.New("the server already receives too many large bodies")

// drainTime is the time in which a client may send the part of a body that the handler did not read. After that, the client reads the response.
const drainTime = time.Second

// Handler returns a handler that reads the body ahead and then calls the given handler.
func (b Bodies) Handler(handler http.Handler) http.Handler {
	turns := make(chan struct{}, b.LargeAtOnce)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A chunked request may also have had a Content-Length, which the server has already removed. The connection must end after such a request
		// (RFC 9112, 6.1).
		if r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		deadline, ok := w.(deadliner)
		if !ok || r.ContentLength == 0 || r.Body == nil {
			handler.ServeHTTP(w, r)
			return
		}
		body := &heldBody{ReadCloser: r.Body, deadline: deadline, pace: b.Pace}
		// This is a shallow copy. The server inspects its own request's body to decide whether it can keep the connection.
		mine := r.WithContext(r.Context())
		mine.Body = body
		if r.ContentLength <= b.Large && r.Header.Get("Expect") == "" {
			done := markWaiting(r.Context())
			b.readAhead(body, r.ContentLength, turns)
			done()
		}
		handler.ServeHTTP(w, mine)
		// If the handler did not read the whole body, the server reads some more before it sends the response.
		if !body.ended {
			_ = deadline.SetReadDeadline(time.Now().Add(min(drainTime, b.Pace.Grace)))
		}
	})
}

// readAhead reads the part of a body that may be read ahead. length is -1 if it is not known.
func (b Bodies) readAhead(body *heldBody, length int64, turns chan struct{}) {
	if length <= b.Small {
		body.readAhead(b.Small)
	}
	if body.ended || body.err != nil {
		return
	}
	timer := time.NewTimer(b.Pace.Grace)
	defer timer.Stop()
	select {
	case turns <- struct{}{}:
		defer func() { <-turns }()
		body.readAhead(b.Large)
	case <-timer.C:
		body.err = ErrTooManyBodies
	}
}

// deadliner is implemented by net/http's own ResponseWriters.
type deadliner interface{ SetReadDeadline(at time.Time) error }

// heldBody is a request body. A part of it may have been read ahead.
type heldBody struct {
	io.ReadCloser
	deadline deadliner
	pace     Pace
	ahead    bytes.Buffer
	begun    time.Time
	read     int64
	ended    bool  // the body has ended; the server has removed the read deadline, and nothing may set it again
	err      error // the error that ended the reading ahead, unless it was io.EOF
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

// readNow reads from the client. It first sets the read deadline by the pace.
func (b *heldBody) readNow(p []byte) (int, error) {
	if b.ended {
		return b.ReadCloser.Read(p)
	}
	if b.begun.IsZero() {
		b.begun = time.Now()
	}
	until := min(b.pace.Longest, b.pace.Grace+time.Duration(b.read)*time.Second/time.Duration(b.pace.Rate))
	if err := b.deadline.SetReadDeadline(b.begun.Add(until)); err != nil {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	b.ended = err != nil
	return n, err
}

// readAhead reads until it has more than limit bytes, or until the body ends.
func (b *heldBody) readAhead(limit int64) {
	if _, err := b.ahead.ReadFrom(io.LimitReader(readerFunc(b.readNow), limit+1-b.read)); err != nil {
		b.err = err
	}
}

type readerFunc func(p []byte) (int, error)

// Read implements io.Reader.
func (r readerFunc) Read(p []byte) (int, error) { return r(p) }

// connection is the context key for a request's connection.
type connection struct{}

// Context implements http.Server.ConnContext. It stores the connection in the context, so that Bodies can mark the connection as waiting.
func (c *Clients) Context(ctx context.Context, conn net.Conn) context.Context {
	if mine := clientOf(conn); mine != nil {
		return context.WithValue(ctx, connection{}, mine)
	}
	return ctx
}

// markWaiting marks a request's connection as waiting. done removes the mark.
func markWaiting(ctx context.Context) (done func()) {
	k, ok := ctx.Value(connection{}).(*client)
	if !ok {
		return func() {}
	}
	k.clients.wait(k)
	return func() { k.clients.work(k) }
}
