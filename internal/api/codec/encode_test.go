package codec

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/api/gen"
)

// anything generates values of a type with random fields. It makes times itself, because rapid cannot set the private fields of a time.
func anything[T any]() *rapid.Generator[T] {
	times := rapid.Custom(func(t *rapid.T) time.Time {
		at := time.Unix(rapid.Int64Range(-2e9, 4e9).Draw(t, "seconds"), rapid.SampledFrom([]int64{0, 1, 123456000, 999999999}).Draw(t, "nanoseconds"))
		return at.In(time.FixedZone("", rapid.SampledFrom([]int{0, 3600, -19800}).Draw(t, "zone")))
	})
	return rapid.MakeCustom[T](rapid.MakeConfig{Types: map[reflect.Type]*rapid.Generator[any]{
		reflect.TypeFor[time.Time](): times.AsAny(),
		reflect.TypeFor[string]():    rapid.OneOf(rapid.StringMatching(`[a-z]{0,3}[ -~]{0,3}`), rapid.String()).AsAny(),
	}})
}

func TestHandWrittenEncodingMatchesTheLibrary(t *testing.T) {
	t.Parallel()
	t.Run("OneClaim", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) { same(t, new(anything[gen.IPClaim]().Draw(t, "claim"))) })
	})
	t.Run("SeveralClaims", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			claims := rapid.SliceOfN(anything[gen.IPClaim](), 0, 3).Draw(t, "claims")
			if rapid.Bool().Draw(t, "none") {
				claims = nil
			}
			same(t, &Page[gen.IPClaim]{Items: claims, NextCursor: rapid.SampledFrom([]string{"", "bmV4dA"}).Draw(t, "next")})
			same(t, &gen.ClaimBatch{Claims: claims})
		})
	})
}

// same checks that an encoded response equals the output of encoding/json for the same body.
func same(t *rapid.T, body any) {
	var want bytes.Buffer
	require.NoError(t, json.NewEncoder(&want).Encode(body))
	got := httptest.NewRecorder()
	require.NoError(t, Answer(got, http.StatusCreated, body))
	require.Equal(t, want.String(), got.Body.String())
	require.Equal(t, http.StatusCreated, got.Code)
	require.Equal(t, "application/json", got.Header().Get("Content-Type"))
	if length := got.Header().Get("Content-Length"); length != "" {
		require.Equal(t, strconv.Itoa(want.Len()), length)
	}
}

// Page must encode a list exactly as the contract's type for that list.
func TestPageEncodingMatchesTheContractList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := anything[gen.QuotaList]().Draw(t, "list")
		want, err := json.Marshal(list)
		require.NoError(t, err)
		got, err := json.Marshal(Page[gen.Quota](list))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	})
}

func TestUnencodableValueSendsNothing(t *testing.T) {
	t.Parallel()
	never := time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, bad := range []any{&gen.IPClaim{Metadata: gen.Metadata{CreatedAt: never}}, &gen.Quota{Metadata: gen.Metadata{CreatedAt: never}}} {
		w := httptest.NewRecorder()
		require.Error(t, Answer(w, http.StatusOK, bad))
		require.Zero(t, w.Body.Len())
		require.Empty(t, w.Header())
		require.False(t, w.Flushed)
	}
}
