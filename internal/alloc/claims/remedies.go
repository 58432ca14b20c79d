package claims

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Remedy is one change of a claim, or of what surrounds it, that would make it succeed.
type Remedy struct {
	Pointer string // the place of the claim to change; "": it is not the claim's to change
	Value   string // what to set there, if there is one answer
	Detail  string // one sentence
}

// remedies is what would help against a refusal, the smallest change first.
func (s *explainer) remedies(ctx context.Context, e *ipam.Error, res resolve.Resolved) ([]Remedy, error) {
	if !full(e) {
		return remedies(e, res), nil
	}
	largest, err := s.largestNow(ctx, res)
	return roomRemedies(e, res, largest), err
}

// largestNow is the length of the largest block that any of the pools that were considered could hand out now; nil: none could.
func (s *explainer) largestNow(ctx context.Context, res resolve.Resolved) (*int, error) {
	if res.First != nil || res.Ask.Spec.Exact().IsValid() {
		return nil, nil //nolint:nilnil // said above
	}
	pools := slices.Concat(res.Pools, res.Unfit)
	if err := storage.FillStock(ctx, s.Store, pools); err != nil {
		return nil, err
	}
	family := res.Pools[0].Family()
	var best *int
	for _, p := range pools {
		free, ok := p.Stock.LargestFree()
		if !ok || p.Family() != family {
			continue
		}
		lo, hi := p.Spec.Allocation.Bounds(p.Block)
		if res.Ask.Class != nil {
			least, most := res.Ask.Class.Spec.Bounds()
			lo, hi = max(lo, least), min(hi, most)
		}
		if bits := max(free, lo); bits <= hi && (best == nil || bits < *best) {
			best = &bits
		}
	}
	return best, nil
}

// remedies is what would help against any other refusal than for want of room.
func remedies(e *ipam.Error, res resolve.Resolved) []Remedy {
	f := e.Figures
	switch e.Code {
	case ipam.CodePrefixLengthRejected, ipam.CodeNeverSatisfiable:
		if f.WantedPrefixLength == nil || f.AllowedMin == nil || f.AllowedMax == nil || res.Ask.Spec.Exact().IsValid() {
			break
		}
		nearest := min(max(*f.WantedPrefixLength, *f.AllowedMin), *f.AllowedMax)
		return []Remedy{{"/spec/prefixLength", strconv.Itoa(nearest), fmt.Sprintf("Ask for a /%d: lengths /%d to /%d are handed out here.", nearest, *f.AllowedMin, *f.AllowedMax)}}
	case ipam.CodeFamilyMismatch:
		return []Remedy{{"/spec/ipFamily", "", "Leave the family out, or name a class or a pool of the family that you want."}}
	case ipam.CodeNoDefaultClass:
		return []Remedy{
			{"/spec/className", "", "Name a class; the list of classes says which the project may use."},
			{"", "", "Have isDefault set on a class of the project, or on a shared one of the platform."},
		}
	case ipam.CodeNoPoolForClass:
		return []Remedy{{"", "", fmt.Sprintf("Have a pool list %q in its classNames.", res.Ask.Class.Name)}}
	case ipam.CodeNoPoolMatches:
		return []Remedy{{"/spec/poolSelector", "", "Select by labels that a pool has, or claim by class."}}
	case ipam.CodeQuotaExceeded:
		return []Remedy{{"", "", fmt.Sprintf("Give something back, ask for less, or have %s of quota %s raised: %s of %s in use, %s asked for.", f.Measure, f.Quota, f.Used, f.Limit, f.Requested)}}
	case ipam.CodeBlockTaken, ipam.CodeAllocationRetained:
		return []Remedy{{resolve.ExactPointer(res.Ask.Spec), "", "Leave it out to get any free block, or ask for another one."}}
	default:
	}
	out := make([]Remedy, 0, len(e.Fields))
	for _, field := range e.Fields {
		out = append(out, Remedy{field.Pointer, "", "This " + field.Detail})
	}
	return out
}

// roomRemedies: a smaller block if there is one, then waiting, then more room.
func roomRemedies(e *ipam.Error, res resolve.Resolved, largest *int) []Remedy {
	var out []Remedy
	if largest != nil {
		out = append(out, Remedy{"/spec/prefixLength", strconv.Itoa(*largest), fmt.Sprintf("Ask for a /%d: that is the largest block that can be had now.", *largest)})
	}
	if at := e.Figures.CooledDownAt; !at.IsZero() {
		out = append(out, Remedy{"", "", "Repeat the claim after " + at.Format(time.RFC3339) + ", when a block has cooled down."})
	}
	if res.Ask.Class != nil {
		return append(out, Remedy{"", "", fmt.Sprintf("Have another pool list %q in its classNames.", res.Ask.Class.Name)})
	}
	return append(out, Remedy{"", "", "Give a block back, or claim from another pool."})
}
