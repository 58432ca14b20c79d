package client

import (
	"context"
	"net"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRetriesAreBounded(t *testing.T) {
	t.Parallel()
	t.Run("AttemptsAreFiveWithGrowingPauses", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			busy := ProblemCodeUnavailable
			s := &script{replies: []any{busy, busy, busy, busy, busy}}
			var pauses []time.Duration
			p := DefaultRetry()
			p.OnRepeat = func(r Repeat) { pauses = append(pauses, r.Pause) }
			begin := time.Now()
			resp, end := Repeater{Next: s, Policy: p}.do(request(t, "GET", claims))
			require.Equal(t, 503, resp.StatusCode)
			require.Equal(t, 5, end.attempts)
			var all time.Duration
			for i, pause := range pauses {
				full := min(200*time.Millisecond<<(2*i), 10*time.Second)
				require.GreaterOrEqual(t, pause, full/2)
				require.LessOrEqual(t, pause, full)
				all += pause
			}
			require.Len(t, pauses, 4)
			require.Equal(t, all, time.Since(begin), "pauses are really made")
		})
	})
	t.Run("RetriesLastLongerThanAServerRestart", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			restarting := doer(func(*http.Request) (*http.Response, error) {
				if time.Since(begin) < 7*time.Second { // systemd waits 2 s before a restart, and the server starts within a few seconds
					return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
				}
				return answer(200, "application/json", "{}"), nil
			})
			resp, end := Repeater{Next: restarting, Policy: DefaultRetry()}.do(request(t, "GET", claims))
			require.NoError(t, end.err)
			require.Equal(t, 200, resp.StatusCode)
		})
	})
	t.Run("PauseIsRetryAfter", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := &script{replies: []any{asked(answer(429, "text/plain", ""), "7"), answer(200, "application/json", "{}")}}
			begin := time.Now()
			resp, _ := Repeater{Next: s, Policy: DefaultRetry()}.do(request(t, "GET", claims))
			require.Equal(t, 200, resp.StatusCode)
			require.Equal(t, 7*time.Second, time.Since(begin))
		})
	})
	t.Run("RetryAfterBeyondTheLimitEndsTheCall", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := &script{replies: []any{asked(answer(429, "text/plain", ""), "3600")}}
			begin := time.Now()
			resp, end := Repeater{Next: s, Policy: DefaultRetry()}.do(request(t, "GET", claims))
			require.Equal(t, 429, resp.StatusCode)
			require.Equal(t, 1, end.attempts)
			require.Zero(t, time.Since(begin))
		})
	})
	t.Run("PauseLongerThanTheCallIsNotBegun", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := &script{replies: []any{asked(answer(503, "text/plain", ""), "9")}}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			begin := time.Now()
			resp, _ := Repeater{Next: s, Policy: DefaultRetry()}.do(request(t, "GET", claims).WithContext(ctx))
			require.Equal(t, 503, resp.StatusCode)
			require.Zero(t, time.Since(begin))
		})
	})
	t.Run("AttemptWithoutAResponseIsRetried", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			silent := doer(func(req *http.Request) (*http.Response, error) {
				if calls++; calls == 1 {
					<-req.Context().Done()
					return nil, req.Context().Err()
				}
				return answer(200, "application/json", "{}"), nil
			})
			resp, _ := Repeater{Next: silent, Policy: DefaultRetry()}.do(request(t, "GET", claims))
			require.Equal(t, 200, resp.StatusCode)
		})
	})
	t.Run("CancelEndsThePause", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := &script{replies: []any{asked(answer(503, "text/plain", ""), "9")}}
			time.AfterFunc(time.Second, cancel)
			begin := time.Now()
			_, end := Repeater{Next: s, Policy: DefaultRetry()}.do(request(t, "GET", claims).WithContext(ctx))
			require.ErrorIs(t, end.err, context.Canceled)
			require.Equal(t, time.Second, time.Since(begin))
		})
	})
}
