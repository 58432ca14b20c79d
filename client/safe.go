package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
)

// worthRepeating reports whether a retry may succeed, and the reason for it.
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
		// Carve's own 504 has used up the request's deadline; a retry would too. A proxy's 504 means that it lost its server.
		return fmt.Sprintf("something before the server said %d", resp.StatusCode), !isProblem(resp)
	default:
		return "", false
	}
}

// neverLeft reports whether a request certainly had no effect.
func neverLeft(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial" || strange(err)
}

// strange reports whether the client cannot talk to the server at all: its certificate is not trusted, or it does not speak TLS.
func strange(err error) bool {
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	return unverified || errors.Is(err, http.ErrSchemeMismatch)
}

// stillOpen reports whether, after one more attempt, it is still unknown whether the server carried out the request.
func stillOpen(before bool, req *http.Request, resp *http.Response, err error) bool {
	switch {
	case harmless(req):
		return false
	case err != nil:
		return before || !neverLeft(err)
	case mayBeDone(resp):
		return true
	case resp.StatusCode >= http.StatusInternalServerError, resp.StatusCode == http.StatusTooManyRequests:
		return before // this attempt was not carried out, but an earlier one may have been
	case resp.StatusCode < http.StatusMultipleChoices:
		return false
	default:
		// A retry with a key or a name returns the first attempt's outcome. A failed precondition does not reveal it.
		// Nor does a POST without a key: a release fails once another claim matches, a dead letter is gone once the server has sent it, and a renewal or
		// a confirmation fails once the caller lacks the right. None of these refusals undoes the first attempt.
		return before && (!safeTwice(req) || takesNoKey(req) || req.Method == http.MethodDelete)
	}
}

// mayBeDone reports whether a response leaves open if the request was carried out: the server reports it so, or a proxy in front of the server lost
// the request.
func mayBeDone(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusBadGateway:
		p, ok := readProblem(resp)
		return !ok || p.Code == ProblemCodeOutcomeUnknown || p.Code == ProblemCodeDeadline
	default:
		return false
	}
}

// harmless reports whether a request changes nothing.
func harmless(req *http.Request) bool {
	return req.Method == http.MethodGet || req.Method == http.MethodHead || dry(req) ||
		req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, explanations)
}

// safeTwice reports whether the server may carry out a request twice.
func safeTwice(req *http.Request) bool {
	tag := req.Header.Get("If-Match")
	switch {
	case harmless(req), takesNoKey(req):
		return true
	case req.Method == http.MethodPost:
		return req.Header.Get(keyHeader) != ""
	case req.Method == http.MethodPut: // sets the whole object; with a precondition, its own success would make a retry fail
		return tag == "" && req.Header.Get("If-None-Match") == ""
	case req.Method == http.MethodDelete: // without a revision, a retry could delete an object created under that name since
		return tag != "" && tag != "*"
	case req.Method == http.MethodPatch: // sets parts of the object, whatever its revision
		return tag == "*"
	default:
		return false
	}
}

// repeatable reports whether a request can be sent again at all. A POST without a key is sent only once.
func repeatable(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodPost:
	default:
		return false
	}
	return (req.Method != http.MethodPost || safeTwice(req)) && (req.Body == nil || req.Body == http.NoBody || req.GetBody != nil)
}

func dry(req *http.Request) bool { return req.URL.Query().Get("dryRun") == "true" }
