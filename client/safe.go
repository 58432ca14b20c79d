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

// shouldRetry reports whether a retry may succeed. It also returns the reason.
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
		// Carve sends a 504 when the request's deadline has passed. A retry would also take too long. A proxy sends a 504 when it lost its server.
		return fmt.Sprintf("a proxy responded %d", resp.StatusCode), !isProblem(resp)
	default:
		return "", false
	}
}

// notSent reports whether the request certainly did not reach the server, and therefore had no effect.
func notSent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial" || cannotConnect(err)
}

// cannotConnect reports whether the client cannot use the connection at all. The client does not trust the server's certificate, or the server does
// not use TLS.
func cannotConnect(err error) bool {
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	return unverified || errors.Is(err, http.ErrSchemeMismatch)
}

// outcomeUnknown reports whether the server may or may not have carried out the request after this attempt. before is the result after the earlier
// attempts. Once the outcome is unknown, only a documented success status or a refusal by Carve can make it known.
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
	// This is the response of a proxy or another server. With a 3xx or 4xx, the proxy did not pass this attempt on. With any other status, Carve may
	// have carried out the request.
	return before || resp.StatusCode < http.StatusMultipleChoices || resp.StatusCode >= http.StatusInternalServerError
}

// outcomeUnknownAfterRefusal reports whether the outcome is still unknown after Carve has refused this attempt. Carve may have carried out an earlier
// attempt, or may not know the outcome of this attempt.
func outcomeUnknownAfterRefusal(before bool, req *http.Request, code ProblemCode, status int) bool {
	switch {
	case code == ProblemCodeOutcomeUnknown, code == ProblemCodeDeadline:
		return true
	case status >= http.StatusInternalServerError, status == http.StatusTooManyRequests:
		return before // Carve did not carry out this attempt, but it may have carried out an earlier one
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusNotFound:
		return before // the caller may have lost its access since an earlier attempt
	default:
		// A retry with a key or a name returns the first attempt's outcome, so its refusal makes the outcome known. These refusals do not:
		//
		//   - a failed precondition, because the first attempt may itself have changed the revision
		//   - the refusal of a POST without a key, because the first attempt may have succeeded
		//
		// Three POSTs without a key can fail after a success. A release fails after another claim matches its filter. The retry of a dead letter
		// fails after the server has sent the letter. A confirmation fails after the project has confirmed 100 realms.
		return before && (!isIdempotent(req) || takesNoKey(req) || req.Method == http.MethodDelete)
	}
}

// isReadOnly reports whether a request changes nothing.
func isReadOnly(req *http.Request) bool {
	return req.Method == http.MethodGet || req.Method == http.MethodHead || isDryRun(req) ||
		req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, explanations)
}

// isIdempotent reports whether the server can carry out a request twice with the result of one.
func isIdempotent(req *http.Request) bool {
	tag := req.Header.Get("If-Match")
	switch {
	case isReadOnly(req), takesNoKey(req):
		return true
	case req.Method == http.MethodPost:
		return req.Header.Get(keyHeader) != ""
	case req.Method == http.MethodPut: // sets the whole object; with a precondition, the first success would make the retry fail
		return tag == "" && req.Header.Get("If-None-Match") == ""
	case req.Method == http.MethodDelete: // without a revision, a retry could delete a newer object with the same name
		return tag != "" && tag != "*"
	case req.Method == http.MethodPatch: // sets parts of the object, whatever its revision
		return tag == "*"
	default:
		return false
	}
}

// canResend reports whether the client can send a request again at all. It sends a POST without a key only once.
func canResend(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodPost:
	default:
		return false
	}
	return (req.Method != http.MethodPost || isIdempotent(req)) && (req.Body == nil || req.Body == http.NoBody || req.GetBody != nil)
}

func isDryRun(req *http.Request) bool { return req.URL.Query().Get("dryRun") == "true" }
