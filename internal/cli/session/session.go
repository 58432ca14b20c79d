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

// Session is a program with a server. For most commands it also has a project.
type Session struct {
	*Program
	http    client.Repeater
	At      destination
	Server  string // for messages, without a password
	Project string
}

// Answer is the response to a request that succeeded. Its body is unchanged.
type Answer struct {
	Status int
	Header http.Header
	Body   json.RawMessage
}

// Session prepares for requests that do not belong to a project. It does not connect yet.
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

// InProject returns a session for one project. --project, CARVE_PROJECT or a context selects the project.
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

// Request is one request as the contract defines it.
type Request struct {
	Method string // "" means GET
	Path   []string
	Query  Query
	Match  string        // If-Match
	Create bool          // the object must not exist yet: If-None-Match
	key    string        // Idempotency-Key
	Body   any           // a value that is sent as JSON; bytes and a json.RawMessage are sent unchanged, and nil sends nothing
	wait   time.Duration // the time for which the server itself may hold the request
}

// Get returns a read request.
func Get(path ...string) Request { return Request{Path: path} }

// Query has the parameters of a request, in order.
type Query []string

// With adds a parameter. If the value is "", it adds nothing.
func (q Query) With(name, value string) Query {
	if value == "" {
		return q
	}
	return append(slices.Clip(q), name+"="+url.QueryEscape(value))
}

// In returns a path inside the project.
func (s *Session) In(path ...string) []string {
	return append([]string{"projects", s.Project}, path...)
}

// of returns the HTTP request with the headers that every request has.
func (s *Session) of(ctx context.Context, r Request) (*http.Request, error) {
	at := *s.At.server
	at.RawQuery = strings.Join(r.Query, "&")
	escaped := []string{"v1"}
	for _, element := range r.Path {
		escaped = append(escaped, url.PathEscape(element))
	}
	doc, err := documentOf(r.Body)
	if err != nil {
		return nil, err
	}
	var body io.Reader
	if doc != nil {
		body = bytes.NewReader(doc)
	}
	req, err := http.NewRequestWithContext(ctx, show.FirstOf(r.Method, http.MethodGet), at.JoinPath(escaped...).String(), body)
	if err != nil {
		return nil, err
	}
	contentType := ""
	switch {
	case r.Method == http.MethodPatch:
		contentType = "application/merge-patch+json"
	case doc != nil:
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

// documentOf returns the body of a request. JSON stays unchanged, and any other value becomes JSON.
func documentOf(body any) (json.RawMessage, error) {
	switch doc := body.(type) {
	case nil:
		return nil, nil
	case []byte:
		return doc, nil
	case json.RawMessage:
		return doc, nil
	default:
		return show.Marshal(body)
	}
}

// Into decodes the response to a request. It returns err if the request failed.
func Into[T any](a Answer, err error) (T, error) {
	if err != nil {
		return *new(T), err
	}
	return show.Read[T](a.Body)
}

// Ask sends one request and retries it if necessary. Its error is a *Refusal or a *noAnswer, unless the body cannot become JSON.
func (s *Session) Ask(ctx context.Context, r Request) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Flags.Timeout+r.wait)
	defer cancel()
	req, err := s.of(ctx, r)
	if err != nil {
		return Answer{}, err
	}
	if r.wait == 0 { // otherwise the server may hold the request on purpose
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

// refusedWith adds the credential to a refusal that is due to missing rights.
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

// lost returns the error for a request that got no complete response.
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

// Writing has the flags that all commands with a write have.
type Writing struct {
	DryRun bool
	Key    string
	Again  bool // the user can safely repeat the whole command, so errors need no key
}

// Query returns the query parameter for a dry run. If the command is no dry run, it returns nil.
func (w Writing) Query() Query {
	if !w.DryRun {
		return nil
	}
	return Query{"dryRun=true"}
}

// Post sends a POST with the caller's Idempotency-Key or with a new one. The server therefore carries out the request only once, even if another
// process retries it with the same key. If the outcome stays unknown, the error contains the key.
func (s *Session) Post(ctx context.Context, w Writing, r Request) (Answer, error) {
	r.Method, r.key, r.Query = http.MethodPost, show.FirstOf(w.Key, uuid.NewString()), append(r.Query, w.Query()...)
	a, err := s.Ask(ctx, r)
	if err != nil {
		return Answer{}, keyed(err, r.key, w)
	}
	s.remarkOn(a)
	return a, nil
}

// Keyed sends a POST with the caller's key. It prints no remarks, because it is for commands that send many requests.
func (s *Session) Keyed(ctx context.Context, key string, r Request) (Answer, error) {
	r.Method, r.key = http.MethodPost, key
	return s.Ask(ctx, r)
}

// Change sends a PUT or a PATCH. If the outcome is unknown, the user can repeat the command, because the request describes the final state. done is a
// phrase for that error, such as "pool was changed". If done is empty, the error does not advise the user to repeat the command.
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

// remarkOn prints remarks about the response to a write. They depend on the response's headers.
func (s *Session) remarkOn(a Answer) {
	if a.Header.Get("Dry-Run") == "true" {
		s.Remark("dry run: nothing was written")
	}
	if a.Header.Get("Idempotency-Replayed") == "true" {
		s.Remark("this is the stored response to an earlier request with the same key")
	}
}

// noAnswer is the error for a request that got no complete response.
type noAnswer struct {
	server string
	cause  error
	after  time.Duration // the timeout, if the request exceeded it
	sent   bool          // the server may have carried out the request

	unnamed bool // the server is the default, because no flag, variable or context names one
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
	// The text has the form "Get http://...: dial tcp ...". Only the part after the URL describes the cause.
	if outer, ok := errors.AsType[*url.Error](e.cause); ok {
		return "no response from " + e.server + ": " + outer.Err.Error()
	}
	return "no response from " + e.server + ": " + strings.TrimSpace(e.cause.Error())
}

func (e *noAnswer) Unwrap() error { return e.cause }
func (*noAnswer) ExitCode() int   { return exit.Unavailable }
