package app

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func TestJobsFollowTheConfiguration(t *testing.T) {
	t.Parallel()
	a := &App{keyring: tenancy.NewKeyring(nil, nil), sessions: tenancy.NewSessions(nil, tenancy.SignInMethods{}, nil), retention: &crdb.Store{}}
	require.Len(t, a.jobs(Config{Auth: []string{authDev}}), 13)
	require.Len(t, a.jobs(Config{Auth: []string{authKeys}}), 16, "and the last use of keys, and sessions")
	require.Len(t, a.jobs(Config{Auth: []string{authKeys}, AuditRetention: time.Hour}), 17, "and retention")
	a.retention = nil
	require.Len(t, a.jobs(Config{Auth: []string{authKeys}, AuditRetention: time.Hour}), 15, "and nobody deletes records whose user may not")
}

func TestJobsAreRepeatedUntilTheServerStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var logs bytes.Buffer
		a := &App{Log: slog.New(slog.NewTextHandler(&logs, nil)), idle: make(chan struct{})}
		var good, bad int
		begun := make(chan struct{})
		a.background([]job{
			{"good", "good", time.Minute, func(context.Context) (int64, error) {
				good++
				return 0, nil
			}},
			{"bad", "bad", 2 * time.Minute, func(context.Context) (int64, error) {
				bad++
				return 0, errors.New("a reason")
			}},
			{"long", "long", 10 * time.Minute, func(ctx context.Context) (int64, error) {
				close(begun)
				<-ctx.Done()
				return 0, ctx.Err()
			}},
		})
		<-time.After(10*time.Minute + time.Second)
		synctest.Wait()
		require.Equal(t, 10, good)
		require.Equal(t, 5, bad, "a failure is not the end")
		require.Contains(t, logs.String(), "a reason")
		<-begun
		a.stop()
		<-a.idle // the running job has also ended
		require.NotContains(t, logs.String(), "canceled", "stopping is no failure")
	})
}
