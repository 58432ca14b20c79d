package ipam_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

func TestErrorSeparatesMessageFromCause(t *testing.T) {
	t.Parallel()
	e := ipam.Errorf(ipam.CodeOverlap, "%s overlaps.", "10.0.0.0/8").At("/spec/cidr", "must not be %d.", 7).WithCause(io.ErrUnexpectedEOF)
	require.Equal(t, "10.0.0.0/8 overlaps.", e.Message)
	require.Equal(t, []ipam.Field{{Pointer: "/spec/cidr", Detail: "must not be 7."}}, e.Fields)
	require.NotContains(t, e.Message, "EOF")
	require.Contains(t, e.Error(), "EOF")
	require.ErrorIs(t, e, io.ErrUnexpectedEOF)
	require.Equal(t, "overlap: 10.0.0.0/8 overlaps.", ipam.Errorf(ipam.CodeOverlap, "10.0.0.0/8 overlaps.").Error())
}

func TestCodeOfReturnsTheErrorCode(t *testing.T) {
	t.Parallel()
	e := ipam.Invalid("/spec", "must be %s.", "so")
	require.Equal(t, ipam.CodeInvalidArgument, e.Code)
	require.Equal(t, []ipam.Field{{Pointer: "/spec", Detail: "must be so."}}, e.Fields)
	require.Contains(t, e.Message, "/spec must be so.")
	wrapped := fmt.Errorf("wrapped: %w", e)
	require.Equal(t, ipam.CodeInvalidArgument, ipam.CodeOf(e))
	require.Equal(t, ipam.CodeInvalidArgument, ipam.CodeOf(wrapped))
	require.Equal(t, ipam.CodeInternal, ipam.CodeOf(errors.New("any other")))
	require.Empty(t, ipam.CodeOf(nil))
	require.True(t, ipam.IsCode(wrapped, ipam.CodeInvalidArgument))
	require.False(t, ipam.IsCode(wrapped, ipam.CodeInternal))
	require.False(t, ipam.IsCode(errors.New("any other"), ipam.CodeInternal), "it is answered as one, but it is none")
	require.False(t, ipam.IsCode(nil, ipam.CodeInternal))
}

// A test of package api compares the codes with the contract and with the pages that state their HTTP statuses.
func TestCodesAreDistinctWords(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "code.go", nil, 0)
	require.NoError(t, err)
	var declared []ipam.Code
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			s, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			declared = append(declared, ipam.Code(s))
		}
		return true
	})
	require.NotEmpty(t, declared)
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(declared))), len(declared))
	for _, c := range declared {
		require.Regexp(t, "^[a-z]+(_[a-z]+)*$", c)
	}
}
