package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Session is a program that knows its server and, for most verbs, its project.
type Session struct {
	*Program
	http    client.Repeater
	At      destination
	Server  string // for people: without a password
	Project string
}

// Answer is what a successful request was answered with. The body stays as it came.
type Answer struct {
	Status int
	Header http.Header
	Body   json.RawMessage
}

// Session prepares for requests that are about no project. It connects to nothing yet.
func (p *Program) Session() (*Session, error) {
	if p.Flags.Timeout <= 0 {
		return nil, exit.Usagef("--timeout must be more than nothing, not %s", p.Flags.Timeout)
	}
	at, err := p.destination()
	if err != nil {
		return nil, err
	}
	p.sending = at.key
	next, err := HTTPClient(at.caFile)
	if err != nil {
		return nil, err
	}
	if err := p.showCertificate(next); err != nil {
		return nil, err
	}
	return &Session{Program: p, http: p.repeater(next), At: at, Server: at.server.Redacted()}, nil
}

// InProject prepares for requests about the project of --project.
func (p *Program) InProject() (*Session, error) {
	s, err := p.Session()
	if err != nil {
		return nil, err
	}
	s.Project = s.At.Project
	if s.Project == "" {
		return nil, exit.Usagef("which project? Give --project (-p), set CARVE_PROJECT, or name one in the context; 'ipamctl project list' shows them")
	}
	return s, CheckName("project", s.Project)
}

// Request is one request of the contract.
type Request struct {
	Method string // empty is GET
	Path   []string
	Query  Query
	Match  string // If-Match
	Create bool   // and replace nothing: If-None-Match
	key    string // Idempotency-Key
	Body   json.RawMessage
	wait   time.Duration // for how long the server itself waits
}

// Get is a request that reads.
func Get(path ...string) Request { return Request{Path: path} }

// Query are the parameters of a request, in the order in which they are sent.
type Query []string

// With adds a parameter, if it has a value.
func (q Query) With(name, value string) Query {
	if value == "" {
		return q
	}
	return append(slices.Clip(q), name+"="+url.QueryEscape(value))
}

// In is the path of what belongs to the project.
func (s *Session) In(path ...string) []string {
	return append([]string{"projects", s.Project}, path...)
}

// of makes an HTTP request, marked as ours.
func (s *Session) of(ctx context.Context, r Request) (*http.Request, error) {
	at := *s.At.server
	at.RawQuery = strings.Join(r.Query, "&")
	escaped := []string{"v1"}
	for _, element := range r.Path {
		escaped = append(escaped, url.PathEscape(element))
	}
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	req, err := http.NewRequestWithContext(ctx, show.FirstOf(r.Method, http.MethodGet), at.JoinPath(escaped...).String(), body)
	if err != nil {
		return nil, err
	}
	contentType := ""
	switch {
	case r.Method == http.MethodPatch:
		contentType = "application/merge-patch+json"
	case r.Body != nil:
		contentType = "application/json"
	}
	noneMatch := ""
	if r.Create {
		noneMatch = "*"
	}
	authorization := ""
	if s.sending != "" {
		authorization = "Bearer " + string(s.sending)
	}
	for name, value := range map[string]string{
		"User-Agent": "ipamctl/" + s.Version, "Authorization": authorization, "X-Request-Id": s.Flags.RequestID,
		"Content-Type": contentType, "If-Match": r.Match, "If-None-Match": noneMatch, "Idempotency-Key": r.key,
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	return req, nil
}

// Ask sends one request, with its repeats, and sorts what comes of it: an answer, a *refusal, or a *noAnswer.
func (s *Session) Ask(ctx context.Context, r Request) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Flags.Timeout+r.wait)
	defer cancel()
	req, err := s.of(ctx, r)
	if err != nil {
		return Answer{}, err
	}
	if r.wait == 0 { // otherwise there may be nothing to answer
		defer s.Waiting("waiting for " + s.Server)()
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return Answer{}, s.lost(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return Answer{}, s.lost(err)
	}
	if resp.StatusCode/100 != 2 {
		return Answer{}, s.refusedWith(refused(resp, body))
	}
	if len(body) > 0 && !json.Valid(body) {
		return Answer{}, foreign(resp, body)
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: bytes.TrimSpace(body)}, nil
}

// refusedWith adds to a refusal for want of rights who it was that was refused.
func (s *Session) refusedWith(err error) error {
	r, ok := errors.AsType[*Refusal](err)
	if !ok || r.Status != http.StatusUnauthorized && r.Status != http.StatusForbidden {
		return err
	}
	r.credential = s.At.Credential()
	if s.At.key == "" {
		r.credential = "none was sent; see 'ipamctl context set --help'"
	}
	return r
}

// lost explains a request that got no whole answer.
func (s *Session) lost(err error) error {
	n := &noAnswer{server: s.Server, cause: err, sent: true, unnamed: s.At.unnamed}
	if lost, ok := errors.AsType[*client.LostError](err); ok {
		n.sent = lost.MayBeDone
	}
	if errors.Is(err, context.DeadlineExceeded) {
		n.after = s.Flags.Timeout
	}
	return n
}

// Writing are the flags of every verb that writes.
type Writing struct {
	DryRun bool
	Key    string
	Again  bool // the whole command line can be run again: no key has to be named
}

// Query is the parameter of a dry run, absent unless it is asked for.
func (w Writing) Query() Query {
	if !w.DryRun {
		return nil
	}
	return Query{"dryRun=true"}
}

// Post sends a POST under an Idempotency-Key, the caller's or one of its own, so that the repeats of this process and of
// the next one are carried out once. Where the outcome stays unknown, the error names the key.
func (s *Session) Post(ctx context.Context, w Writing, r Request) (Answer, error) {
	r.Method, r.key, r.Query = http.MethodPost, show.FirstOf(w.Key, uuid.NewString()), append(r.Query, w.Query()...)
	a, err := s.Ask(ctx, r)
	if err != nil {
		return Answer{}, keyed(err, r.key, w)
	}
	s.remarkOn(a)
	return a, nil
}

// Keyed sends a POST under a key that the caller makes, and says nothing of it: it is one of many.
func (s *Session) Keyed(ctx context.Context, key string, r Request) (Answer, error) {
	r.Method, r.key = http.MethodPost, key
	return s.Ask(ctx, r)
}

// Change sends a PUT or a PATCH. One whose outcome is not known can be said again: it says how things are to be. done is what
// is then not known, as in "the pool was changed"; without it nothing is said of that.
func (s *Session) Change(ctx context.Context, r Request, done string) (Answer, error) {
	a, err := s.Ask(ctx, r)
	switch {
	case err != nil && done != "" && Unsettled(err):
		return Answer{}, fmt.Errorf("%w\nIt is not known whether the %s: run it again, it says how things are to be", err, done)
	case err != nil:
		return Answer{}, err
	}
	s.remarkOn(a)
	return a, nil
}

// remarkOn tells what the headers of an answer to a write say.
func (s *Session) remarkOn(a Answer) {
	if a.Header.Get("Dry-Run") == "true" {
		s.Remark("dry run: nothing was written")
	}
	if a.Header.Get("Idempotency-Replayed") == "true" {
		s.Remark("this is the stored answer to an earlier request with the same key")
	}
}

// noAnswer is a request that was not answered, or not to its end.
type noAnswer struct {
	server string
	cause  error
	after  time.Duration // the time it was given, where that ran out
	sent   bool          // it may have been carried out

	unnamed bool // the address is the default: the command line, the environment and the contexts name no server
}

func (e *noAnswer) Error() string {
	if e.unnamed && !errors.Is(e.cause, context.Canceled) {
		return e.text() + "\nNo server is named, so this is the default: give --server, set CARVE_SERVER, or make a context with 'ipamctl context set NAME --server URL'"
	}
	return e.text()
}

func (e *noAnswer) text() string {
	switch {
	case e.after > 0:
		return "no answer from " + e.server + " within " + e.after.String()
	case errors.Is(e.cause, context.Canceled):
		return "interrupted before there was an answer from " + e.server
	}
	// "Get http://...: dial tcp ...": the half that says what happened.
	if outer, ok := errors.AsType[*url.Error](e.cause); ok {
		return "no answer from " + e.server + ": " + outer.Err.Error()
	}
	return "no answer from " + e.server + ": " + strings.TrimSpace(e.cause.Error())
}

func (e *noAnswer) Unwrap() error { return e.cause }
func (*noAnswer) ExitCode() int   { return exit.Unavailable }
