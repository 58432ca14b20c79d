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

// Session is a program with its server and, for most verbs, its project.
type Session struct {
	*Program
	http    client.Repeater
	At      destination
	Server  string // for people: without a password
	Project string
}

// Answer is the response to a successful request, with its unchanged body.
type Answer struct {
	Status int
	Header http.Header
	Body   json.RawMessage
}

// Session prepares for requests outside projects. It does not connect yet.
func (p *Program) Session() (*Session, error) {
	if p.Flags.Timeout <= 0 {
		return nil, exit.Usagef("--timeout must be more than 0, not %s", p.Flags.Timeout)
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

// InProject prepares for requests in the project of --project.
func (p *Program) InProject() (*Session, error) {
	s, err := p.Session()
	if err != nil {
		return nil, err
	}
	s.Project = s.At.Project
	if s.Project == "" {
		return nil, exit.Usagef("no project is given: use --project (-p), CARVE_PROJECT or a context; 'ipamctl project list' shows the projects")
	}
	return s, CheckName("project", s.Project)
}

// Request is one request of the contract.
type Request struct {
	Method string // "" is GET
	Path   []string
	Query  Query
	Match  string // If-Match
	Create bool   // create only: If-None-Match
	key    string // Idempotency-Key
	Body   json.RawMessage
	wait   time.Duration // the time that the server itself may wait
}

// Get returns a read request.
func Get(path ...string) Request { return Request{Path: path} }

// Query are a request's parameters, in order.
type Query []string

// With adds a parameter, unless its value is "".
func (q Query) With(name, value string) Query {
	if value == "" {
		return q
	}
	return append(slices.Clip(q), name+"="+url.QueryEscape(value))
}

// In returns a path in the project.
func (s *Session) In(path ...string) []string {
	return append([]string{"projects", s.Project}, path...)
}

// of returns the HTTP request, with our headers.
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

// Ask sends one request with its retries. It returns the answer, or a *Refusal or a *noAnswer as the error.
func (s *Session) Ask(ctx context.Context, r Request) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Flags.Timeout+r.wait)
	defer cancel()
	req, err := s.of(ctx, r)
	if err != nil {
		return Answer{}, err
	}
	if r.wait == 0 { // otherwise the server may wait on purpose
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

// refusedWith adds the credential to a refusal for missing rights.
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

// lost returns the error for a request without a complete response.
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
	Again  bool // the user can repeat the whole command: errors need no key
}

// Query returns the parameter of a dry run, if it is one.
func (w Writing) Query() Query {
	if !w.DryRun {
		return nil
	}
	return Query{"dryRun=true"}
}

// Post sends a POST under an Idempotency-Key, the caller's or a new one, so that the server carries out retries by this or a later process only once.
// If the outcome stays unknown, the error contains the key.
func (s *Session) Post(ctx context.Context, w Writing, r Request) (Answer, error) {
	r.Method, r.key, r.Query = http.MethodPost, show.FirstOf(w.Key, uuid.NewString()), append(r.Query, w.Query()...)
	a, err := s.Ask(ctx, r)
	if err != nil {
		return Answer{}, keyed(err, r.key, w)
	}
	s.remarkOn(a)
	return a, nil
}

// Keyed sends a POST under the caller's key without remarks, as one of many.
func (s *Session) Keyed(ctx context.Context, key string, r Request) (Answer, error) {
	r.Method, r.key = http.MethodPost, key
	return s.Ask(ctx, r)
}

// Change sends a PUT or a PATCH. After an unknown outcome the user can repeat it, because it describes the final state. done describes the change for
// that error, as in "the pool was changed"; without it the error has no such sentence.
func (s *Session) Change(ctx context.Context, r Request, done string) (Answer, error) {
	a, err := s.Ask(ctx, r)
	switch {
	case err != nil && done != "" && Unsettled(err):
		return Answer{}, fmt.Errorf("%w\nIt is unknown whether the %s. Run the command again: a second run changes nothing more", err, done)
	case err != nil:
		return Answer{}, err
	}
	s.remarkOn(a)
	return a, nil
}

// remarkOn prints remarks about the headers of a response to a write.
func (s *Session) remarkOn(a Answer) {
	if a.Header.Get("Dry-Run") == "true" {
		s.Remark("dry run: nothing was written")
	}
	if a.Header.Get("Idempotency-Replayed") == "true" {
		s.Remark("this is the stored response to an earlier request with the same key")
	}
}

// noAnswer is the error for a request without a complete response.
type noAnswer struct {
	server string
	cause  error
	after  time.Duration // the timeout, if it has passed
	sent   bool          // the server may have carried it out

	unnamed bool // the default address: the command line, the environment and the contexts name no server
}

func (e *noAnswer) Error() string {
	if e.unnamed && !errors.Is(e.cause, context.Canceled) {
		return e.text() + "\nThis is the default, because no server is named: use --server or CARVE_SERVER, or create a context with 'ipamctl context set NAME --server URL'"
	}
	return e.text()
}

func (e *noAnswer) text() string {
	switch {
	case e.after > 0:
		return "no response from " + e.server + " within " + e.after.String()
	case errors.Is(e.cause, context.Canceled):
		return "interrupted before a response from " + e.server
	}
	// "Get http://...: dial tcp ...": use the part with the cause.
	if outer, ok := errors.AsType[*url.Error](e.cause); ok {
		return "no response from " + e.server + ": " + outer.Err.Error()
	}
	return "no response from " + e.server + ": " + strings.TrimSpace(e.cause.Error())
}

func (e *noAnswer) Unwrap() error { return e.cause }
func (*noAnswer) ExitCode() int   { return exit.Unavailable }
