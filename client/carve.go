package client

import (
	"net/http"
)

// Carve talks to one server. It is safe for any number of goroutines; make one and keep it.
//
// Every operation of the contract is a method: CreateClaim and so on. It takes what must be said, and after that its parameters if there is
// anything to say by them, and answers what the contract says.
//
//   - A refusal is an error: a [*Problem] within an [*Error].
//   - What fails for want of a connection, or because the server is busy, is repeated where that is safe ([RetryPolicy]).
//   - A POST without an Idempotency-Key gets one, and its repeats carry the same.
type Carve struct {
	// Raw has the same operations with their answers as they came, for who needs a header of them. A refusal is an error there too; who calls
	// closes the body.
	Raw *Client
}

// New makes a client for the server at a base URL such as https://carve.example.com. It connects to nothing yet.
//
// Plain http is refused but for this machine, because everybody on the way could read the credential: [WithInsecureHTTP].
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
