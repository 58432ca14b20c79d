package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
)

// worthRepeating says why a repeat may have a better end.
func worthRepeating(ctx context.Context, resp *http.Response, err error) (reason string, again bool) {
	switch {
	case ctx.Err() != nil, strange(err), errors.Is(err, errTooLarge):
		return "", false
	case errors.Is(err, context.DeadlineExceeded):
		return "there was no answer in time", true
	case err != nil && neverLeft(err):
		return "the server cannot be reached", true
	case err != nil:
		return "the connection was lost", true
	}
	switch resp.StatusCode {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return fmt.Sprintf("the server said %d, not now", resp.StatusCode), true
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		// Carve's own 504 has spent the request's time already; that of a proxy has lost its server.
		return fmt.Sprintf("something before the server said %d", resp.StatusCode), !isProblem(resp)
	default:
		return "", false
	}
}

// neverLeft reports whether a request surely had no effect.
func neverLeft(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial" || strange(err)
}

// strange reports whether there is somebody who cannot be talked to: an unknown certificate, TLS with who has none.
func strange(err error) bool {
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	return unverified || errors.Is(err, http.ErrSchemeMismatch)
}

// stillOpen reports whether, after one more attempt, it is not known whether the request was carried out.
func stillOpen(before bool, req *http.Request, resp *http.Response, err error) bool {
	switch {
	case harmless(req):
		return false
	case err != nil:
		return before || !neverLeft(err)
	case mayBeDone(resp):
		return true
	case resp.StatusCode >= http.StatusInternalServerError, resp.StatusCode == http.StatusTooManyRequests:
		return before // this attempt was not carried out; an earlier one may have been
	case resp.StatusCode < http.StatusMultipleChoices:
		return false
	default:
		// Who repeats by a key or a name is told what became of the first one. A precondition that fails tells nothing.
		return before && !safeTwice(req) || before && req.Method == http.MethodDelete
	}
}

// mayBeDone reports whether an answer leaves open what became of the request: the server says so, or it is not the server
// that answers, but something before it that lost it.
func mayBeDone(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusBadGateway:
		p, ok := readProblem(resp)
		return !ok || p.Code == ProblemCodeOutcomeUnknown || p.Code == ProblemCodeDeadline
	default:
		return false
	}
}

// harmless reports whether a request changes nothing, however often it is carried out.
func harmless(req *http.Request) bool {
	return req.Method == http.MethodGet || req.Method == http.MethodHead || dry(req) || takesNoKey(req)
}

// safeTwice reports whether a request may be carried out twice.
func safeTwice(req *http.Request) bool {
	tag := req.Header.Get("If-Match")
	switch {
	case harmless(req):
		return true
	case req.Method == http.MethodPost:
		return req.Header.Get(keyHeader) != ""
	case req.Method == http.MethodPut: // says how something is to be; with a precondition, it would be refused for its own success
		return tag == "" && req.Header.Get("If-None-Match") == ""
	case req.Method == http.MethodDelete: // without a revision it would delete what was made under that name meanwhile
		return tag != "" && tag != "*"
	case req.Method == http.MethodPatch: // of whichever revision: says how parts of it are to be
		return tag == "*"
	default:
		return false
	}
}

// repeatable reports whether a request can be sent again at all. A POST without a key is sent once, whatever becomes of it.
func repeatable(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodPost:
	default:
		return false
	}
	return (req.Method != http.MethodPost || safeTwice(req)) && (req.Body == nil || req.Body == http.NoBody || req.GetBody != nil)
}

func dry(req *http.Request) bool { return req.URL.Query().Get("dryRun") == "true" }
