package client

import (
	"net/http"
)

// Carve is a client for one server. It is safe for concurrent use. Make one client and keep it, because it reuses its connections.
//
// Every operation in the contract is a method, such as CreateClaim. The method takes the required arguments first and the optional parameters last.
// It returns the contract's type.
//
//   - If the server refuses a call, the method returns an [*Error] that wraps a [*Problem].
//   - If there is no connection or the server is busy, the client retries the call where that is safe ([RetryPolicy]).
//   - If a POST has no Idempotency-Key, the client adds one. All retries of the call have the same key.
type Carve struct {
	// Raw has the same operations but returns the HTTP responses, for callers that need a response header. A refusal is an error there too. The
	// caller closes the response's body.
	Raw *Client
}

// New makes a client for the server at a base URL such as https://carve.example.com. It does not connect yet.
//
// New refuses plain http to another machine, because everybody on the network can then read the credential. [WithInsecureHTTP] allows plain http.
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
