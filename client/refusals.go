package client

import "time"

// These types are the refusals that have figures. Each type has only the figures of its code: full, ok := errors.AsType[*client.PoolExhausted](err).
// All other refusals have only a code and a detail. Both are in [*Problem], which these types embed too.
type (
	// InvalidArgument lists the request's faults.
	InvalidArgument struct {
		*Problem

		Errors []ProblemField
		// MissingRoles are the roles that the class requires and the claim's scope does not have.
		MissingRoles []string
	}

	// AlreadyExists lists the objects that already have the name, or that are already the default.
	AlreadyExists struct {
		*Problem

		ConflictsWith []string
	}

	// Overlap lists the overlapping root pools that the caller may see.
	Overlap struct {
		*Problem

		ConflictsWith []string
	}

	// InUse counts the objects that still use or need the object.
	InUse struct {
		*Problem

		Claims, Consumers, Retained, ChildPools, Pools, Spaces int64
		// ConflictsWith names some of these objects. It names only objects that the caller may see.
		ConflictsWith []string
	}

	// AllocationRetained lists the retained allocations that hold the block.
	AllocationRetained struct {
		*Problem

		ConflictsWith []string
	}

	// PoolExhausted describes the free space in the pools. No free block in the pools is large enough.
	PoolExhausted struct {
		*Problem

		WantedPrefixLength int
		// LargestFreePrefixLength is nil when nothing is free.
		LargestFreePrefixLength *int
		AvailableAddresses      Count
		PoolsTried              []string
		// Fitting is the number of claims of the batch that fit, in the batch's order.
		Fitting int64
	}

	// ExhaustedByCooldown has the time at which blocks in cool-down become free.
	ExhaustedByCooldown struct {
		*Problem

		WantedPrefixLength   int
		CoolingDownAddresses Count
		CooledDownAt         time.Time
		PoolsTried           []string
	}

	// NoPoolForClass names the class that no pool lists for this prefix length.
	NoPoolForClass struct {
		*Problem

		Class string
	}

	// QuotaExceeded names the quota that would be exceeded, with its limit and use.
	QuotaExceeded struct {
		*Problem

		Quota                  string
		Measure                QuotaMeasure
		Limit, Used, Requested Count
	}

	// TooManyConsumers counts the claim's consumers.
	TooManyConsumers struct {
		*Problem

		Consumers int64
	}

	// PreconditionFailed has the object's current ETag. If the object does not exist, the ETag is empty.
	PreconditionFailed struct {
		*Problem

		CurrentETag string
	}

	// NeverSatisfiable has the requested prefix length and the possible prefix lengths.
	NeverSatisfiable struct {
		*Problem

		WantedPrefixLength   int
		AllowedPrefixLengths PrefixLengthRange
	}

	// PrefixLengthRejected has the allowed prefix lengths. If a class restricts the lengths, it also names the class.
	PrefixLengthRejected struct {
		*Problem

		AllowedPrefixLengths PrefixLengthRange
		Class                string
	}
)

// refusals maps a code to the function that builds its type.
var refusals = map[ProblemCode]func(p *Problem, target any) bool{
	ProblemCodeInvalidArgument:    as(func(p *Problem) *InvalidArgument { return &InvalidArgument{p, p.Errors, p.MissingRoles} }),
	ProblemCodeAlreadyExists:      as(func(p *Problem) *AlreadyExists { return &AlreadyExists{p, p.ConflictsWith} }),
	ProblemCodeOverlap:            as(func(p *Problem) *Overlap { return &Overlap{p, p.ConflictsWith} }),
	ProblemCodeAllocationRetained: as(func(p *Problem) *AllocationRetained { return &AllocationRetained{p, p.ConflictsWith} }),
	ProblemCodeInUse: as(func(p *Problem) *InUse {
		return &InUse{
			p, figure(p.Claims), figure(p.Consumers), figure(p.Retained), figure(p.ChildPools), figure(p.Pools), figure(p.Spaces), p.ConflictsWith,
		}
	}),
	ProblemCodePoolExhausted: as(func(p *Problem) *PoolExhausted {
		return &PoolExhausted{p, figure(p.WantedPrefixLength), p.LargestFreePrefixLength, p.AvailableAddresses, p.PoolsTried, figure(p.Fitting)}
	}),
	ProblemCodeExhaustedByCooldown: as(func(p *Problem) *ExhaustedByCooldown {
		return &ExhaustedByCooldown{p, figure(p.WantedPrefixLength), p.CoolingDownAddresses, figure(p.CooledDownAt), p.PoolsTried}
	}),
	ProblemCodeNoPoolForClass: as(func(p *Problem) *NoPoolForClass { return &NoPoolForClass{p, p.Class} }),
	ProblemCodeQuotaExceeded: as(func(p *Problem) *QuotaExceeded {
		return &QuotaExceeded{p, p.Quota, p.Measure, p.Limit, p.Used, p.Requested}
	}),
	ProblemCodeTooManyConsumers:   as(func(p *Problem) *TooManyConsumers { return &TooManyConsumers{p, figure(p.Consumers)} }),
	ProblemCodePreconditionFailed: as(func(p *Problem) *PreconditionFailed { return &PreconditionFailed{p, p.CurrentETag} }),
	ProblemCodeNeverSatisfiable: as(func(p *Problem) *NeverSatisfiable {
		return &NeverSatisfiable{p, figure(p.WantedPrefixLength), figure(p.AllowedPrefixLengths)}
	}),
	ProblemCodePrefixLengthRejected: as(func(p *Problem) *PrefixLengthRejected {
		return &PrefixLengthRejected{p, figure(p.AllowedPrefixLengths), p.Class}
	}),
}

// As lets [errors.As] and [errors.AsType] find a refusal by the type that belongs to its code.
func (p *Problem) As(target any) bool {
	become, ok := refusals[p.Code]
	return ok && become(p, target)
}

func as[T any](of func(*Problem) *T) func(*Problem, any) bool {
	return func(p *Problem, target any) bool {
		typed, ok := target.(**T)
		if ok {
			*typed = of(p)
		}
		return ok
	}
}

// figure returns a problem's figure. If the problem does not have the figure, it returns zero.
func figure[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
