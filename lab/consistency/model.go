package consistency

import "github.com/anishathalye/porcupine"

// model returns the specification for porcupine. Pools are independent, so porcupine judges each pool separately. names are the claims' names, for
// pictures.
func model(names []string) porcupine.Model {
	m := porcupine.NondeterministicModel{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			byPool := map[*Pool]int{}
			var parts [][]porcupine.Operation
			for _, op := range history {
				pool := op.Input.(operation).pool //nolint:errcheck // histories are made by Recorder alone
				i, ok := byPool[pool]
				if !ok {
					i = len(parts)
					byPool[pool], parts = i, append(parts, nil)
				}
				parts[i] = append(parts[i], op)
			}
			return parts
		},
		Init: func() []any { return []any{state{}} },
		Step: func(s, input, output any) []any {
			next := step(s.(state), input.(operation), output.(answer)) //nolint:errcheck // see above
			out := make([]any, len(next))
			for i := range next {
				out[i] = next[i]
			}
			return out
		},
		DescribeOperation: func(input, output any) string {
			return input.(operation).String() + " -> " + output.(answer).String() //nolint:errcheck // see above
		},
		DescribeState: func(s any) string { return s.(state).describe(names) }, //nolint:errcheck // see above
	}
	return m.ToModel()
}

// step returns the possible states after an operation with this response. It returns none if the response is wrong.
func step(s state, op operation, a answer) []state {
	s.pool = op.pool
	switch op.kind {
	case claimLength:
		return s.stepLength(op, a)
	case claimBlock:
		return s.stepBlock(op, a)
	default:
		return s.stepRelease(op, a)
	}
}

func (s state) stepLength(op operation, a answer) []state {
	size := s.pool.size(op.bits)
	switch a.outcome {
	case got:
		if a.block.Bits() == op.bits {
			return s.stepGot(op, a)
		}
	case exhausted:
		if len(s.places(size)) == 0 {
			return []state{s}
		}
	case unknown:
		next := []state{s}
		if !s.holds(op.claim) {
			for _, first := range s.places(size) {
				next = append(next, s.take(holding{first, size, op.claim}))
			}
		}
		return next
	default: // a response that this operation cannot have
	}
	return nil
}

func (s state) stepBlock(op operation, a answer) []state {
	first, inside := s.pool.unit(op.block)
	size := s.pool.size(op.block.Bits())
	free := inside && s.free(first, size)
	switch a.outcome {
	case got:
		if a.block == op.block {
			return s.stepGot(op, a)
		}
	case taken:
		if !free {
			return []state{s}
		}
	case unknown:
		if free && !s.holds(op.claim) {
			return []state{s, s.take(holding{first, size, op.claim})}
		}
		return []state{s}
	default: // a response that this operation cannot have
	}
	return nil
}

func (s state) stepGot(op operation, a answer) []state {
	first, inside := s.pool.unit(a.block)
	size := s.pool.size(a.block.Bits())
	if !inside || !s.free(first, size) || s.holds(op.claim) {
		return nil
	}
	return []state{s.take(holding{first, size, op.claim})}
}

func (s state) stepRelease(op operation, a answer) []state {
	held := s.holds(op.claim)
	switch {
	case a.outcome == released && held:
		return []state{s.give(op.claim)}
	case a.outcome == notFound && !held:
		return []state{s}
	case a.outcome == gone && held:
		return []state{s.give(op.claim)}
	case a.outcome == gone:
		return []state{s}
	case a.outcome == unknown && held:
		return []state{s, s.give(op.claim)}
	case a.outcome == unknown:
		return []state{s}
	}
	return nil
}
