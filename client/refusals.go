package client

import "time"

// The refusals that have figures, as types with those alone: full, ok := errors.AsType[*client.PoolExhausted](err). Every other refusal has its code
// and its sentence, which are in the [*Problem] that these hold too.
type (
	// InvalidArgument says where the request is wrong.
	InvalidArgument struct {
		*Problem

		Errors []ProblemField
		// MissingRoles are those that the class asks for and the claim's scope does not give.
		MissingRoles []string
	}

	// AlreadyExists names what has the name, or is the default.
	AlreadyExists struct {
		*Problem

		ConflictsWith []string
	}

	// Overlap names the root pools that overlap, as far as the caller may see them.
	Overlap struct {
		*Problem

		ConflictsWith []string
	}

	// InUse counts what still holds or needs the thing.
	InUse struct {
		*Problem

		Claims, Consumers, Retained, ChildPools, Pools, Spaces int64
		// ConflictsWith names some of it, as far as the caller may see it.
		ConflictsWith []string
	}

	// AllocationRetained names the retained allocations that hold the block.
	AllocationRetained struct {
		*Problem

		ConflictsWith []string
	}

	// PoolExhausted says what is left where nothing large enough is free.
	PoolExhausted struct {
		*Problem

		WantedPrefixLength int
		// LargestFreePrefixLength is nil when nothing at all is free.
		LargestFreePrefixLength *int
		AvailableAddresses      Count
		PoolsTried              []string
		// Fitting is how many claims of a batch fit; the next one does not.
		Fitting int64
	}

	// ExhaustedByCooldown says when what is cooling down will be free.
	ExhaustedByCooldown struct {
		*Problem

		WantedPrefixLength   int
		CoolingDownAddresses Count
		CooledDownAt         time.Time
		PoolsTried           []string
	}

	// NoPoolForClass names the class that no pool of this length lists.
	NoPoolForClass struct {
		*Problem

		Class string
	}

	// QuotaExceeded says which quota does not allow it, and by how much.
	QuotaExceeded struct {
		*Problem

		Quota                  string
		Measure                QuotaMeasure
		Limit, Used, Requested Count
	}

	// TooManyConsumers says how many consumers the claim has.
	TooManyConsumers struct {
		*Problem

		Consumers int64
	}

	// PreconditionFailed has the ETag of what is there now, if anything is.
	PreconditionFailed struct {
		*Problem

		CurrentETag string
	}

	// NeverSatisfiable says what length was asked for, and which ones there can be.
	NeverSatisfiable struct {
		*Problem

		WantedPrefixLength   int
		AllowedPrefixLengths PrefixLengthRange
	}

	// PrefixLengthRejected says which lengths are handed out, and the class that says so, if one does.
	PrefixLengthRejected struct {
		*Problem

		AllowedPrefixLengths PrefixLengthRange
		Class                string
	}
)

// refusals make the types of their codes.
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

// As lets [errors.As] and [errors.AsType] find a refusal by the type of its code.
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

// figure is a figure of a problem, or zero where it has none.
func figure[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
