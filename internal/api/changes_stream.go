package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/feed"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

const (
	bookmarkEvery = 15 * time.Second
	writeLimit    = 10 * time.Second // time to write one batch of changes; the server disconnects a client that does not read within it
	streamAtOnce  = 500
	retryAfter    = time.Second // delay before a client reconnects
)

// stream is a response with Server-Sent Events. Between two writes it holds no text, so that many idle streams need little memory. All streams share
// a change's text, and copy it to the connection through a small buffer.
type stream struct {
	*server

	c        echo.Context
	follower *feed.Follower
	text     *bufio.Writer // nil: no text since the last flush
	err      error         // first failed write
}

// streamBuffer is a stream's buffer size in bytes.
const streamBuffer = 16 << 10

var streamBuffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, streamBuffer) }}

// stream sends events until the caller disconnects or loses the right to follow. The HTTP status is already sent by then, so an error is the last
// event.
func (s *server) stream(c echo.Context, follower *feed.Follower) error {
	out := &stream{server: s, c: c, follower: follower}
	began := time.Now()
	defer func() { callOf(c).waited = time.Since(began) }()
	_ = http.NewResponseController(c.Response()).SetReadDeadline(time.Time{})
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, mimeStream)
	h.Set("X-Accel-Buffering", "no")
	c.Response().WriteHeader(http.StatusOK)
	out.add(fmt.Appendf(nil, "retry: %d\n\n", retryAfter.Milliseconds()))
	if out.flush() != nil {
		return nil
	}
	if err := out.run(); err != nil {
		refused := refusalOf(err)
		end := gen.ChangesEnd{Code: gen.ProblemCode(refused.Code), Detail: refused.Message}
		cursor := ""
		if refused.Code != ipam.CodeCursorExpired {
			cursor = follower.Cursor()
			end.Cursor = &cursor
		}
		out.event("end", cursor, end)
		_ = out.flush() // the last flush; nothing follows an error
	}
	return nil
}

// run returns the error that ends the stream, or nil after the client has disconnected.
func (s *stream) run() error {
	ctx := s.c.Request().Context()
	mark, rights := time.Now().Add(bookmarkEvery), time.Now().Add(rightsEvery)
	for {
		changes, err := s.next(ctx, min(time.Until(mark), time.Until(rights)))
		switch {
		case err != nil:
			return err
		case context.Cause(ctx) == context.DeadlineExceeded: //nolint:errorlint // context.Cause returns the error itself
			return ipam.Errorf(ipam.CodeUnavailable, "The stream has reached its maximum duration. Connect again and continue from the last cursor.")
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the client has gone
		}
		now := time.Now()
		if !now.Before(rights) {
			if err := s.recheck(s.c, s.follower); err != nil {
				return err
			}
			rights = now.Add(rightsEvery)
		}
		for i, change := range changes {
			var next *feed.Change
			if i+1 < len(changes) {
				next = changes[i+1]
			}
			s.add(change.Text(s.frame))
			s.add([]byte("id: "), []byte(s.follower.CursorAfter(change, next)), []byte("\n\n"))
		}
		tenancy.BudgetOf(ctx).Add(tenancy.Work{Rows: len(changes)}) // not by size, because all streams share a change's text
		if len(changes) == 0 && !now.Before(mark) {
			cursor := s.follower.Cursor()
			s.event("bookmark", cursor, gen.ChangesBookmark{Cursor: cursor})
		}
		if s.text != nil {
			mark = now.Add(bookmarkEvery)
			if s.flush() != nil {
				return nil //nolint:nilerr // the client has gone or does not read
			}
		}
	}
}

// next waits for changes. While the budget is used up, it returns none. Many streams may wait for one budget. Each stream adds a random time to its
// wait, so that they do not all continue at once.
func (s *stream) next(ctx context.Context, wait time.Duration) ([]*feed.Change, error) {
	debt := tenancy.BudgetOf(ctx).Debt()
	if debt == 0 {
		return s.follower.Next(ctx, wait, streamAtOnce)
	}
	s.follower.Release()
	select {
	case <-ctx.Done():
	case <-time.After(min(wait, debt+rand.N(time.Second))): //nolint:gosec // not for secrets
	}
	return nil, nil
}

// frame returns a change's text without its id. All streams on one feed hub share this text.
func (s *stream) frame(change *feed.Change) []byte {
	shown, err := showChange(change, s.cfg.Clock())
	if err != nil {
		return nil // a time that JSON cannot express
	}
	text, err := json.Marshal(shown)
	if err != nil {
		return nil
	}
	return fmt.Appendf(nil, "event: change\ndata: %s\n", text)
}

// event adds an event. Its data fits on one line, because json.Marshal writes no line ends.
func (s *stream) event(name, id string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		return
	}
	s.add(fmt.Appendf(nil, "event: %s\n", name))
	if id != "" {
		s.add(fmt.Appendf(nil, "id: %s\n", id))
	}
	s.add([]byte("data: "), text, []byte("\n\n"))
}

// add adds text to the response. The first text after a flush sets the write deadline. Before this deadline, the client must read all text up to the
// next flush.
func (s *stream) add(texts ...[]byte) {
	if s.text == nil {
		err := http.NewResponseController(s.c.Response()).SetWriteDeadline(time.Now().Add(writeLimit))
		if err != nil && !errors.Is(err, http.ErrNotSupported) {
			s.err = err
		}
		s.text, _ = streamBuffers.Get().(*bufio.Writer)
		s.text.Reset(s.c.Response())
	}
	for _, text := range texts {
		if s.err != nil {
			return
		}
		_, s.err = s.text.Write(text)
	}
}

// flush sends the added text.
func (s *stream) flush() error {
	if s.text == nil {
		return s.err
	}
	if err := s.text.Flush(); s.err == nil {
		s.err = err
	}
	s.text.Reset(nil)
	streamBuffers.Put(s.text)
	s.text = nil
	if s.err == nil {
		s.err = http.NewResponseController(s.c.Response()).Flush()
	}
	return s.err
}
