package client

import (
	"net/http"
)

// Carve is a client for one server. It is safe for concurrent use; make one and keep it.
//
// Every operation in the contract is a method, such as CreateClaim. It takes the required arguments first and optional parameters last, and returns
// the contract's type.
//
//   - A refusal is an error: a [*Problem] within an [*Error].
//   - A call that finds no connection or a busy server is retried where that is safe ([RetryPolicy]).
//   - A POST without an Idempotency-Key gets one, and its retries have the same key.
type Carve struct {
	// Raw has the same operations but returns the HTTP responses, for callers that need a response header. A refusal is an error there too. The
	// caller closes the body.
	Raw *Client
}

// New makes a client for the server at a base URL such as https://carve.example.com. It does not connect yet.
//
// New refuses plain http to another machine, because the network could read the credential; [WithInsecureHTTP] allows it.
func New(baseURL string, opts ...Option) (*Carve, error) {
	s := settings{retry: DefaultRetry(), timeout: defaultTimeout, header: http.Header{}, userAgent: userAgent}
	for _, opt := range opts {
		if err := opt(&s); err != nil {
			return nil, err
		}
	}
	server, err := parseServer(baseURL, s.insecure)
	if err != nil {
		return nil, err
	}
	if s.http == nil {
		s.http = newHTTPClient()
	}
	raw, err := NewClient(server, WithHTTPClient(&caller{
		settings: s,
		repeater: Repeater{Next: s.http, Policy: s.retry},
	}))
	if err != nil {
		return nil, err
	}
	return &Carve{Raw: raw}, nil
}
