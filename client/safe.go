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

// shouldRetry reports whether a retry may succeed, and the reason for it.
func shouldRetry(ctx context.Context, resp *http.Response, err error) (reason string, again bool) {
	switch {
	case ctx.Err() != nil, cannotConnect(err), errors.Is(err, errTooLarge):
		return "", false
	case errors.Is(err, context.DeadlineExceeded):
		return "there was no response in time", true
	case err != nil && notSent(err):
		return "the server cannot be reached", true
	case err != nil:
		return "the connection was lost", true
	}
	switch resp.StatusCode {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return fmt.Sprintf("the server responded %d and asked to wait", resp.StatusCode), true
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		// Carve's own 504 has used up the request's deadline; a retry would too. A proxy's 504 means that it lost its server.
		return fmt.Sprintf("a proxy responded %d", resp.StatusCode), !isProblem(resp)
	default:
		return "", false
	}
}

// notSent reports whether a request certainly had no effect.
func notSent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial" || cannotConnect(err)
}

// cannotConnect reports whether the client cannot talk to the server at all: its certificate is not trusted, or it does not speak TLS.
func cannotConnect(err error) bool {
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	return unverified || errors.Is(err, http.ErrSchemeMismatch)
}

// outcomeUnknown returns true if, after this attempt, the server may or may not have carried out the request. before is the result for the earlier
// attempts. If it is true, only a documented success status or a refusal by Carve can make the outcome known.
func outcomeUnknown(before bool, req *http.Request, resp *http.Response, err error) bool {
	switch {
	case isReadOnly(req):
		return false
	case err != nil:
		return before || !notSent(err)
	case succeeded(req, resp):
		return false
	}
	if p, ok := readProblem(resp); ok && resp.StatusCode >= http.StatusBadRequest {
		return outcomeUnknownAfterRefusal(before, req, p.Code, resp.StatusCode)
	}
	// The response of a proxy or another server. Its 3xx and 4xx mean that it did not pass this attempt on. Behind any other status, Carve may have
	// carried out the request.
	return before || resp.StatusCode < http.StatusMultipleChoices || resp.StatusCode >= http.StatusInternalServerError
}

// outcomeUnknownAfterRefusal returns true if Carve has refused this attempt but may have carried out an earlier one, or does not know this attempt's outcome.
func outcomeUnknownAfterRefusal(before bool, req *http.Request, code ProblemCode, status int) bool {
	switch {
	case code == ProblemCodeOutcomeUnknown, code == ProblemCodeDeadline:
		return true
	case status >= http.StatusInternalServerError, status == http.StatusTooManyRequests:
		return before // this attempt was not carried out, but an earlier one may have been
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusNotFound:
		return before // the caller may have lost its access since an earlier attempt
	default:
		// A retry with a key or a name returns the first attempt's outcome. A failed precondition does not reveal it.
		// Nor does the refusal of a POST without a key: the first attempt may have succeeded. A release fails once another claim matches. The
		// retry of a dead letter fails once the server has sent it. A confirmation fails once the project has confirmed 100 realms.
		return before && (!isIdempotent(req) || takesNoKey(req) || req.Method == http.MethodDelete)
	}
}

// isReadOnly reports whether a request changes nothing.
func isReadOnly(req *http.Request) bool {
	return req.Method == http.MethodGet || req.Method == http.MethodHead || isDryRun(req) ||
		req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, explanations)
}

// isIdempotent reports whether the server may carry out a request twice.
func isIdempotent(req *http.Request) bool {
	tag := req.Header.Get("If-Match")
	switch {
	case isReadOnly(req), takesNoKey(req):
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

// canResend reports whether a request can be sent again at all. A POST without a key is sent only once.
func canResend(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodPost:
	default:
		return false
	}
	return (req.Method != http.MethodPost || isIdempotent(req)) && (req.Body == nil || req.Body == http.NoBody || req.GetBody != nil)
}

func isDryRun(req *http.Request) bool { return req.URL.Query().Get("dryRun") == "true" }
