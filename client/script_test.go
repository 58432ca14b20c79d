package client

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// script is an HTTP client that returns fixed responses in order and records the requests.
type script struct {
	replies []any // int: an error page of a proxy with this status; ProblemCode: a problem; other error: no response; *http.Response: this response
	sent    []*http.Request
	bodies  []string
}

var statusOf = map[ProblemCode]int{
	ProblemCodeRateLimited: 429, ProblemCodeContention: 503, ProblemCodeUnavailable: 503, ProblemCodeOutcomeUnknown: 503,
	ProblemCodeDeadline: 504, ProblemCodeInternal: 500, ProblemCodePoolExhausted: 409, ProblemCodeNotFound: 404,
	ProblemCodePreconditionFailed: 412, ProblemCodeUnauthenticated: 401, ProblemCodePermissionDenied: 403,
}

func (s *script) Do(req *http.Request) (*http.Response, error) {
	s.sent = append(s.sent, req)
	if req.Body != nil {
		text, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		s.bodies = append(s.bodies, string(text))
	}
	reply := s.replies[0]
	s.replies = s.replies[1:]
	switch r := reply.(type) {
	case error:
		if code, ok := r.(ProblemCode); ok { //nolint:errorlint // the script holds it as it is
			return answer(statusOf[code], problemType, `{"code":"`+string(code)+`"}`), nil
		}
		return nil, r
	case int:
		return answer(r, "text/html", "<h1>proxy</h1>"), nil
	case *http.Response:
		return r, nil
	}
	panic("no such reply")
}

func answer(status int, mediaType, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Header: http.Header{"Content-Type": {mediaType}},
		Body: io.NopCloser(strings.NewReader(body)),
	}
}

// success returns the response that the contract defines for the success of a request.
func success(req *http.Request) *http.Response {
	switch {
	case req.Method == http.MethodDelete:
		return answer(http.StatusNoContent, "", "")
	case req.Method == http.MethodPost && !takesNoKey(req):
		return answer(http.StatusCreated, "application/json", "{}")
	}
	return answer(http.StatusOK, "application/json", "{}")
}

func asked(resp *http.Response, seconds string) *http.Response {
	resp.Header.Set("Retry-After", seconds)
	return resp
}

var (
	errCut     = errors.New("connection reset by peer")
	errRefused = &net.OpError{Op: "dial", Err: errors.New("connection refused")}
)

func request(t *testing.T, method, path string, header ...string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:1"+path, strings.NewReader("body"))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return req
}

type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(req *http.Request) (*http.Response, error) { return d(req) }
