package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/carve-ipam/carve/client"
)

// session is a program that knows its server and, for most verbs, its project.
type session struct {
	*program
	http    client.Repeater
	at      destination
	server  string // for people: without a password
	project string
}

// answer is what a successful request was answered with. The body stays as it came.
type answer struct {
	status int
	header http.Header
	body   json.RawMessage
}

// session prepares for requests that are about no project. It connects to nothing yet.
func (p *program) session() (*session, error) {
	if p.flags.timeout <= 0 {
		return nil, usagef("--timeout must be more than nothing, not %s", p.flags.timeout)
	}
	at, err := p.destination()
	if err != nil {
		return nil, err
	}
	p.sending = at.key
	next, err := httpClient(at.caFile)
	if err != nil {
		return nil, err
	}
	if err := p.showCertificate(next); err != nil {
		return nil, err
	}
	return &session{program: p, http: p.repeater(next), at: at, server: at.server.Redacted()}, nil
}

// inProject prepares for requests about the project of --project.
func (p *program) inProject() (*session, error) {
	s, err := p.session()
	if err != nil {
		return nil, err
	}
	s.project = s.at.project
	if s.project == "" {
		return nil, usagef("which project? Give --project (-p), set CARVE_PROJECT, or name one in the context; 'ipamctl project list' shows them")
	}
	return s, checkName("project", s.project)
}

// request is one request of the contract.
type request struct {
	method string // empty is GET
	path   []string
	query  query
	match  string // If-Match
	key    string // Idempotency-Key
	body   json.RawMessage
}

// get is a request that reads.
func get(path ...string) request { return request{path: path} }

// query are the parameters of a request, in the order in which they are sent.
type query []string

// with adds a parameter, if it has a value.
func (q query) with(name, value string) query {
	if value == "" {
		return q
	}
	return append(q[:len(q):len(q)], name+"="+url.QueryEscape(value))
}

// in is the path of what belongs to the project.
func (s *session) in(path ...string) []string {
	return append([]string{"projects", s.project}, path...)
}

// of makes an HTTP request, marked as ours.
func (s *session) of(ctx context.Context, r request) (*http.Request, error) {
	at := *s.at.server
	at.RawQuery = strings.Join(r.query, "&")
	escaped := []string{"v1"}
	for _, element := range r.path {
		escaped = append(escaped, url.PathEscape(element))
	}
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, firstOf(r.method, http.MethodGet), at.JoinPath(escaped...).String(), body)
	if err != nil {
		return nil, err
	}
	contentType := ""
	switch {
	case r.method == http.MethodPatch:
		contentType = "application/merge-patch+json"
	case r.body != nil:
		contentType = "application/json"
	}
	authorization := ""
	if s.sending != "" {
		authorization = "Bearer " + string(s.sending)
	}
	for name, value := range map[string]string{
		"User-Agent": "ipamctl/" + s.Version, "Authorization": authorization, "X-Request-Id": s.flags.requestID,
		"Content-Type": contentType, "If-Match": r.match, "Idempotency-Key": r.key,
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	return req, nil
}

// ask sends one request, with its repeats, and sorts what comes of it: an answer, a *refusal, or a *noAnswer.
func (s *session) ask(ctx context.Context, r request) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, s.flags.timeout)
	defer cancel()
	req, err := s.of(ctx, r)
	if err != nil {
		return answer{}, err
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return answer{}, s.lost(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, s.lost(err)
	}
	if resp.StatusCode/100 != 2 {
		return answer{}, s.refusedWith(refused(resp, body))
	}
	if len(body) > 0 && !json.Valid(body) {
		return answer{}, foreign(resp, body)
	}
	return answer{status: resp.StatusCode, header: resp.Header, body: bytes.TrimSpace(body)}, nil
}

// refusedWith adds to a refusal for want of rights who it was that was refused.
func (s *session) refusedWith(err error) error {
	r, ok := errors.AsType[*refusal](err)
	if !ok || r.status != http.StatusUnauthorized && r.status != http.StatusForbidden {
		return err
	}
	r.credential = s.at.credential()
	if s.at.key == "" {
		r.credential = "none was sent; see 'ipamctl context set --help'"
	}
	return r
}

// lost explains a request that got no whole answer.
func (s *session) lost(err error) error {
	n := &noAnswer{server: s.server, cause: err, sent: true}
	if lost, ok := errors.AsType[*client.LostError](err); ok {
		n.sent = lost.MayBeDone
	}
	if errors.Is(err, context.DeadlineExceeded) {
		n.after = s.flags.timeout
	}
	return n
}

// writing are the flags of every verb that writes.
type writing struct {
	dryRun bool
	key    string
	again  bool // the whole command line can be run again: no key has to be named
}

// query is the parameter of a dry run, absent unless it is asked for.
func (w writing) query() query {
	if !w.dryRun {
		return nil
	}
	return query{"dryRun=true"}
}

// post sends a POST under an Idempotency-Key, the caller's or one of its own, so that the repeats of this process and of
// the next one are carried out once. Where the outcome stays unknown, the error names the key.
func (s *session) post(ctx context.Context, w writing, r request) (answer, error) {
	r.method, r.key, r.query = http.MethodPost, firstOf(w.key, uuid.NewString()), append(r.query, w.query()...)
	a, err := s.ask(ctx, r)
	if err != nil {
		return answer{}, keyed(err, r.key, w)
	}
	s.remarkOn(a)
	return a, nil
}

// change sends a PUT or a PATCH. One whose outcome is not known can be said again: it says how things are to be. done is what
// is then not known, as in "the pool was changed"; without it nothing is said of that.
func (s *session) change(ctx context.Context, r request, done string) (answer, error) {
	a, err := s.ask(ctx, r)
	switch {
	case err != nil && done != "" && unsettled(err):
		return answer{}, fmt.Errorf("%w\nIt is not known whether the %s: run it again, it says how things are to be", err, done)
	case err != nil:
		return answer{}, err
	}
	s.remarkOn(a)
	return a, nil
}

// remarkOn tells what the headers of an answer to a write say.
func (s *session) remarkOn(a answer) {
	if a.header.Get("Dry-Run") == "true" {
		s.remark("dry run: nothing was written")
	}
	if a.header.Get("Idempotency-Replayed") == "true" {
		s.remark("this is the stored answer to an earlier request with the same key")
	}
}

// env is an environment variable, or empty.
func (p *program) env(name string) string {
	value, _ := p.Env(name)
	return value
}

// firstOf is the first value that is given.
func firstOf[T ~string](values ...T) T {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// noAnswer is a request that was not answered, or not to its end.
type noAnswer struct {
	server string
	cause  error
	after  time.Duration // the time it was given, where that ran out
	sent   bool          // it may have been carried out
}

func (e *noAnswer) Error() string {
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
func (*noAnswer) exitCode() int   { return exitUnavailable }
