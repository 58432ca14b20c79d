package codec

import (
	"github.com/carve-ipam/carve/internal/alloc/search"
	"github.com/carve-ipam/carve/internal/api/gen"
)

// SearchResultOf converts a search result into its wire form.
func SearchResultOf(f search.Found) gen.SearchResult {
	return gen.SearchResult{Items: Each(f.Items, searchItemOf), Truncated: f.Truncated}
}

func searchItemOf(i search.Item) gen.SearchItem {
	return gen.SearchItem{
		Kind: gen.SearchKind(i.Kind), Project: i.Project, Name: i.Name, CIDR: blockOf(i.Block), PoolRef: optionalRefOf(i.Pool), SpaceRef: optionalRefOf(i.Space),
		Purpose: optionalWord(gen.IPAllocationPurpose(i.Purpose)), Phase: optionalWord(gen.IPAllocationPhase(i.Phase)), Consumer: i.Consumer, Why: gen.SearchReason(i.Why),
	}
}

// optionalWord returns nil for "".
func optionalWord[T ~string](word T) *T {
	if word == "" {
		return nil
	}
	return &word
}
