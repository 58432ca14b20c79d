package alloc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// large gives a claim annotations of almost the maximum size.
func large(c *ipam.Claim) {
	c.Annotations = map[string]string{}
	for i := range 7 {
		c.Annotations[fmt.Sprint("k", i)] = strings.Repeat("x", ipam.MaxAnnotationValue)
	}
}

func TestPageIsLimitedInBytes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	const many = 150
	for i := range many / 30 {
		var batch []ipam.Claim
		for j := range 30 {
			batch = append(batch, claim(fmt.Sprintf("c-%d-%02d", i, j), "net", 32, large))
		}
		b.batch(t, batch...)
	}
	for name, f := range map[string]paging.Filter{"ByName": {}, "InAPool": {Pool: ref("net")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen, cursor := map[string]bool{}, ""
			for {
				page, err := b.ListClaims(b.ctx, project, f, 500, cursor, usecase.Reading{})
				require.NoError(t, err)
				bytes := 0
				for _, c := range page.Items {
					require.False(t, seen[c.Name], "it comes once")
					seen[c.Name], bytes = true, bytes+c.Size()
				}
				require.Equal(t, bytes, page.Bytes)
				require.LessOrEqual(t, bytes, paging.MostBytes)
				if cursor = page.Next; cursor == "" {
					break
				}
				require.NotEmpty(t, page.Items)
			}
			require.Len(t, seen, many)
		})
	}
}
