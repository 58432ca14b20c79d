package codec

import (
	"github.com/carve-ipam/carve/internal/alloc/releases"
	"github.com/carve-ipam/carve/internal/api/gen"
)

// ReleaseOf converts a release's result into its wire form.
func ReleaseOf(r releases.Report, dryRun bool) gen.ClaimRelease {
	out := gen.ClaimRelease{
		Released: r.Done, Gone: r.Gone, Skipped: make([]gen.ClaimSkipped, 0, len(r.Skipped)), NextCursor: r.Next,
		Count: r.Count, More: r.More, Token: r.Token,
	}
	for _, s := range r.Skipped {
		out.Skipped = append(out.Skipped, gen.ClaimSkipped{Name: s.Name, Code: gen.ProblemCode(s.Reason.Code), Detail: s.Reason.Message})
	}
	if dryRun {
		out.Claims = Each(r.Claims, ClaimOf)
	}
	return out
}
