package codec

import (
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/api/gen"
)

// anything makes values of a type with all of its fields, whatever they are; rapid cannot look into times.
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

func TestWhatIsWrittenByHandIsWhatTheLibraryWrites(t *testing.T) {
	t.Parallel()
	t.Run("OneClaim", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			a := gen.CreateClaim201JSONResponse{Body: anything[gen.IPClaim]().Draw(t, "claim"), Headers: gen.CreateClaim201ResponseHeaders{
				ETag: `"e"`, Location: "/l", DryRun: rapid.Ptr(rapid.Bool(), true).Draw(t, "dry"), IdempotencyReplayed: rapid.Ptr(rapid.Bool(), true).Draw(t, "again"),
			}}
			want, got := httptest.NewRecorder(), httptest.NewRecorder()
			require.NoError(t, a.VisitCreateClaimResponse(want))
			require.NoError(t, ClaimMade{a}.VisitCreateClaimResponse(got))
			same(t, want, got)
			read := gen.GetClaim200JSONResponse{Body: a.Body, Headers: gen.GetClaim200ResponseHeaders{ETag: `"e"`}}
			want, got = httptest.NewRecorder(), httptest.NewRecorder()
			require.NoError(t, read.VisitGetClaimResponse(want))
			require.NoError(t, ClaimRead{read}.VisitGetClaimResponse(got))
			same(t, want, got)
		})
	})
	t.Run("SeveralClaims", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			claims := rapid.SliceOfN(anything[gen.IPClaim](), 0, 3).Draw(t, "claims")
			if rapid.Bool().Draw(t, "none") {
				claims = nil
			}
			list := gen.ListClaims200JSONResponse{Body: gen.IPClaimList{Items: claims, NextCursor: rapid.SampledFrom([]string{"", "bmV4dA"}).Draw(t, "next")}}
			want, got := httptest.NewRecorder(), httptest.NewRecorder()
			require.NoError(t, list.VisitListClaimsResponse(want))
			require.NoError(t, ClaimsRead{list}.VisitListClaimsResponse(got))
			same(t, want, got)
			batch := gen.CreateClaimBatch201JSONResponse{Body: gen.ClaimBatch{Claims: claims}}
			want, got = httptest.NewRecorder(), httptest.NewRecorder()
			require.NoError(t, batch.VisitCreateClaimBatchResponse(want))
			require.NoError(t, ClaimsMade{batch}.VisitCreateClaimBatchResponse(got))
			same(t, want, got)
		})
	})
}

// same compares two answers; a length that is said in advance is the only difference that they may have.
func same(t *rapid.T, want, got *httptest.ResponseRecorder) {
	require.Equal(t, want.Body.String(), got.Body.String())
	require.Equal(t, want.Code, got.Code)
	got.Header().Del("Content-Length")
	require.Equal(t, want.Header(), got.Header())
}

func TestWhatHasNoJSONIsNotSent(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	bad := gen.GetClaim200JSONResponse{Body: gen.IPClaim{Metadata: gen.Metadata{CreatedAt: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}}}
	require.Error(t, bad.VisitGetClaimResponse(w))
	require.Error(t, ClaimRead{bad}.VisitGetClaimResponse(w))
	require.Zero(t, w.Body.Len())
	require.False(t, w.Flushed)
}
