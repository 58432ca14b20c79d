package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/feed"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

const (
	bookmarkEvery = 15 * time.Second
	writeLimit    = 10 * time.Second // for what is written at once; who does not read it is cut off
	streamAtOnce  = 500
	retryAfter    = time.Second // what a client is told to wait before it connects again
)

// stream is an answer of Server-Sent Events.
type stream struct {
	changeHandlers

	c        echo.Context
	follower *feed.Follower
	text     bytes.Buffer
}

// stream answers until the caller goes away, or may not follow any more. The answer has begun: what goes wrong is told in the last event.
func (s changeHandlers) stream(c echo.Context, follower *feed.Follower) error {
	out := &stream{changeHandlers: s, c: c, follower: follower}
	began := time.Now()
	defer func() { callOf(c).waited = time.Since(began) }()
	_ = http.NewResponseController(c.Response()).SetReadDeadline(time.Time{})
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, mimeStream)
	h.Set("X-Accel-Buffering", "no")
	c.Response().WriteHeader(http.StatusOK)
	fmt.Fprintf(&out.text, "retry: %d\n\n", retryAfter.Milliseconds())
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
		_ = out.flush() // it was the last one
	}
	return nil
}

// run answers why the stream ends; nil: nobody is there any more.
func (s *stream) run() error {
	ctx := s.c.Request().Context()
	mark, rights := time.Now().Add(bookmarkEvery), time.Now().Add(rightsEvery)
	for {
		changes, err := s.follower.Next(ctx, min(time.Until(mark), time.Until(rights)), streamAtOnce)
		switch {
		case err != nil:
			return err
		case context.Cause(ctx) == context.DeadlineExceeded: //nolint:errorlint // the context's own
			return ipam.Errorf(ipam.CodeUnavailable, "The stream has lasted for as long as one may. Connect again and go on from the last cursor.")
		case ctx.Err() != nil:
			return nil //nolint:nilerr // nobody is there any more
		}
		now := time.Now()
		if !now.Before(rights) {
			if err := s.may(s.c, s.follower); err != nil {
				return err
			}
			rights = now.Add(rightsEvery)
		}
		for i, change := range changes {
			var next *feed.Change
			if i+1 < len(changes) {
				next = changes[i+1]
			}
			s.text.Write(change.Text(s.frame))
			fmt.Fprintf(&s.text, "id: %s\n\n", s.follower.CursorAfter(change, next))
		}
		tenancy.BudgetOf(ctx).Add(tenancy.Work{Rows: len(changes)})
		if len(changes) == 0 && !now.Before(mark) {
			cursor := s.follower.Cursor()
			s.event("bookmark", cursor, gen.ChangesBookmark{Cursor: cursor})
		}
		if s.text.Len() > 0 {
			mark = now.Add(bookmarkEvery)
			if s.flush() != nil {
				return nil //nolint:nilerr // nobody is there any more, or reads
			}
		}
	}
}

// frame is a change as all streams of its hub send it, but for its id.
func (s *stream) frame(change *feed.Change) []byte {
	shown, err := showChange(change, s.clock())
	if err != nil {
		return nil // a time beyond those that JSON has
	}
	text, err := json.Marshal(shown)
	if err != nil {
		return nil
	}
	return fmt.Appendf(nil, "event: change\ndata: %s\n", text)
}

// event adds an event: JSON has no line ends.
func (s *stream) event(name, id string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		return
	}
	fmt.Fprintf(&s.text, "event: %s\n", name)
	if id != "" {
		fmt.Fprintf(&s.text, "id: %s\n", id)
	}
	fmt.Fprintf(&s.text, "data: %s\n\n", text)
}

// flush sends what was added.
func (s *stream) flush() error {
	control := http.NewResponseController(s.c.Response())
	if err := control.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	_, err := s.c.Response().Write(s.text.Bytes())
	s.text.Reset()
	if err != nil {
		return err
	}
	return control.Flush()
}
