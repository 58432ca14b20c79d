package regions

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// directory reads the installation's regions, and validates region names.
type directory struct{ *usecase.Core }

// ListRegions returns the installation's regions, the primary one first. ownRegion is this server's region. Any authenticated caller may use it.
func (s *directory) ListRegions(ctx context.Context) (all []ipam.Region, ownRegion string, err error) {
	if _, err := tenancy.Authorize(ctx, tenancy.Whoami, ""); err != nil {
		return nil, "", err
	}
	all, err = s.Store.Regions(ctx)
	return all, s.Region, err
}

// CheckRegions sets a new pool's home region, and refuses unknown regions.
func (s *directory) CheckRegions(ctx context.Context, spec *ipam.PoolSpec) error {
	pointer := "/spec/region" // the field that sets the home region
	if spec.Region == "" {
		spec.Region = s.Region
		if len(spec.Regions) > 0 {
			spec.Region, pointer = spec.Regions[0], regionPointer(0)
		}
	}
	if spec.Region == s.Region && len(spec.Regions) == 0 {
		return nil
	}
	all, err := s.Store.Regions(ctx)
	if err != nil {
		return err
	}
	if err := known(all, pointer, spec.Region); err != nil {
		return err
	}
	return NormalizeRegions(ctx, s.Store, spec)
}

// NormalizeRegions refuses unknown regions, and a list without the home region. If the list has only the home region, it clears the list.
func NormalizeRegions(ctx context.Context, read storage.Reader, spec *ipam.PoolSpec) error {
	if len(spec.Regions) == 0 {
		return nil
	}
	all, err := read.Regions(ctx)
	if err != nil {
		return err
	}
	for i, r := range spec.Regions {
		if err := known(all, regionPointer(i), r); err != nil {
			return err
		}
		if slices.Contains(spec.Regions[:i], r) {
			return ipam.Invalid(regionPointer(i), "repeats an earlier entry; list it once.")
		}
	}
	if len(spec.Regions) > 0 && !slices.Contains(spec.Regions, spec.Region) {
		return ipam.Invalid("/spec/regions", "must include the pool's home, %q.", spec.Region)
	}
	if len(spec.Regions) == 1 {
		spec.Regions = nil
	}
	return nil
}

func known(all []ipam.Region, pointer, region string) error {
	names := make([]string, len(all))
	for i, r := range all {
		if names[i] = r.Name; r.Name == region {
			return nil
		}
	}
	return ipam.Invalid(pointer, "is not a region of this installation; it has %s.", strings.Join(names, ", "))
}

func regionPointer(i int) string { return "/spec/regions/" + strconv.Itoa(i) }
