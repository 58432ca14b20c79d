package codec

import (
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// The functions below return the mutate function for a patch. The mutate function converts the stored resource into its wire form, because the patch
// uses the API's field names. It then applies the patch, and copies the writable fields back into the resource.

// PatchProject applies a JSON merge patch to a project.
func PatchProject(patch []byte) func(ipam.Project) (ipam.Project, error) {
	return func(was ipam.Project) (ipam.Project, error) {
		wire, err := applyPatch(ProjectOf(was), patch, writableText)
		if err != nil {
			return was, err
		}
		next := was
		next.Labels, next.Annotations = wire.Metadata.Labels, wire.Metadata.Annotations
		next.Spec = projectSpec(wire.Spec)
		return next, nil
	}
}

// PatchSpace applies a JSON merge patch to a space.
func PatchSpace(patch []byte) func(ipam.Space) (ipam.Space, error) {
	return func(was ipam.Space) (ipam.Space, error) {
		wire, err := applyPatch(SpaceOf(was), patch, writableText)
		if err != nil {
			return was, err
		}
		next := was
		next.Labels, next.Annotations = wire.Metadata.Labels, wire.Metadata.Annotations
		next.Spec = ipam.SpaceSpec(wire.Spec)
		return next, nil
	}
}

// PatchPool applies a JSON merge patch to a pool. A patch may contain the pool's status. PatchPool compares this status with observed, the pool with
// the free blocks that the caller could read a moment ago, because the use case passes the pool without free blocks.
func PatchPool(patch []byte, observed ipam.Pool) func(ipam.Pool) (ipam.Pool, error) {
	return func(was ipam.Pool) (ipam.Pool, error) {
		seen := was
		seen.Stock, seen.Regional = observed.Stock, observed.Regional
		wire, err := applyPatch(PoolOf(seen, time.Time{}), patch, writablePool, withoutRunways)
		if err != nil {
			return was, err
		}
		spec, err := PoolSpec(was.Project, wire.Spec)
		if err != nil {
			return was, err
		}
		next := was
		next.Labels, next.Annotations = wire.Metadata.Labels, wire.Metadata.Annotations
		next.Spec.Visibility, next.Spec.Allocation = spec.Visibility, spec.Allocation
		next.Spec.Reservations, next.Spec.Description = spec.Reservations, spec.Description
		next.Spec.ClassNames, next.Spec.ReuseAfter = spec.ClassNames, spec.ReuseAfter
		next.Spec.Regions, next.Spec.Drain = spec.Regions, spec.Drain
		return next, nil
	}
}

// PatchClass applies a JSON merge patch to a class. It compares a status in the patch with the current status.
func PatchClass(patch []byte, status ipam.ClassStatus) func(ipam.Class) (ipam.Class, error) {
	return func(was ipam.Class) (ipam.Class, error) {
		seen := was
		seen.Status = status
		wire, err := applyPatch(ClassOf(seen), patch, writableClass)
		if err != nil {
			return was, err
		}
		next := was
		next.Labels, next.Annotations = wire.Metadata.Labels, wire.Metadata.Annotations
		next.Spec, err = ClassSpec(wire.Spec)
		return next, err
	}
}

// PatchClaim applies a JSON merge patch to a claim.
func PatchClaim(patch []byte) func(ipam.Claim) (ipam.Claim, error) {
	return func(was ipam.Claim) (ipam.Claim, error) {
		wire, err := applyPatch(ClaimOf(was), patch, writableClaim)
		if err != nil {
			return was, err
		}
		spec, err := ClaimSpec(was.Project, wire.Spec)
		if err != nil {
			return was, err
		}
		next := was
		next.Labels, next.Annotations = wire.Metadata.Labels, wire.Metadata.Annotations
		next.Spec.ReclaimPolicy = spec.ReclaimPolicy
		return next, nil
	}
}
