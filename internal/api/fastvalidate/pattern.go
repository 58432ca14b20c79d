package fastvalidate

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

// maxStates limits the states in the table of a pattern. A state takes 128 bytes. Three long patterns need more states: label keys, references in
// filters, and subjects. For these, match uses regexp.
const maxStates = 250

// pattern is a regular expression as a table: a deterministic automaton over ASCII. The table needs a twentieth of the time of regexp
// (BenchmarkPattern). Patterns cover most of the text in a valid request, so this matters.
type pattern struct {
	re      *regexp.Regexp
	next    [][128]uint8 // next state, by state and character; state 0 has no exit
	accepts []bool       // by state: whether the text may end here
}

// newPattern returns nil for an expression that Go does not support, such as one with \u.
func newPattern(expression string) *pattern {
	if strings.Contains(expression, `\u`) { // JavaScript supports \u, and Go does not
		return nil
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil
	}
	p := &pattern{re: re}
	p.tabulate()
	return p
}

// match reports whether the expression matches. It has the same result as regexp.
func match[T string | []byte](p *pattern, raw T) bool {
	if p.next == nil {
		return p.re.MatchString(string(raw))
	}
	state := uint8(1)
	for i := range len(raw) {
		c := raw[i]
		if c >= 128 {
			return p.re.MatchString(string(raw))
		}
		state = p.next[state][c]
	}
	return p.accepts[state]
}

// tabulate makes the table by the subset construction. A state is the set of instructions that a text can reach. It makes no table if the expression
// may match anywhere in a text, tests word or line boundaries, or needs too many states.
func (p *pattern) tabulate() {
	tree, err := syntax.Parse(p.re.String(), syntax.Perl)
	if err != nil {
		return
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil || prog.StartCond()&syntax.EmptyBeginText == 0 {
		return
	}
	for _, inst := range prog.Inst {
		if inst.Op == syntax.InstEmptyWidth && emptyOp(inst.Arg)&^(syntax.EmptyBeginText|syntax.EmptyEndText) != 0 {
			return
		}
	}
	const begin = "^" // the only state at the start of the text
	states := map[string]uint8{"": 0, begin: 1}
	sets := [][]uint32{nil, {uint32(prog.Start)}} //nolint:gosec // a small index
	var next [][128]uint8
	var accepts []bool
	for at := 0; at < len(sets); at++ {
		flags := syntax.EmptyOp(0)
		if at == 1 {
			flags = syntax.EmptyBeginText
		}
		_, ended := reach(prog, sets[at], flags|syntax.EmptyEndText)
		runes, already := reach(prog, sets[at], flags)
		if already { // the pattern matches whatever follows, which a table cannot express
			return
		}
		var row [128]uint8
		for c := range row {
			var set []uint32
			for _, pc := range runes {
				if inst := &prog.Inst[pc]; inst.MatchRune(rune(c)) && !slices.Contains(set, inst.Out) {
					set = append(set, inst.Out)
				}
			}
			slices.Sort(set)
			key := keyOf(set)
			state, known := states[key]
			if !known {
				if len(sets) == maxStates {
					return
				}
				state = uint8(len(sets)) //nolint:gosec // below maxStates
				states[key] = state
				sets = append(sets, set)
			}
			row[c] = state
		}
		next, accepts = append(next, row), append(accepts, ended)
	}
	p.next, p.accepts = next, accepts
}

// reach follows the instructions that consume no character. It returns the reachable instructions that consume a character. It also reports whether
// the match instruction is reachable.
func reach(prog *syntax.Prog, from []uint32, flags syntax.EmptyOp) (runes []uint32, match bool) {
	seen := make([]bool, len(prog.Inst))
	todo := slices.Clone(from)
	for len(todo) > 0 {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		switch inst := &prog.Inst[pc]; inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			todo = append(todo, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			todo = append(todo, inst.Out)
		case syntax.InstEmptyWidth:
			if emptyOp(inst.Arg)&^flags == 0 {
				todo = append(todo, inst.Out)
			}
		case syntax.InstMatch:
			match = true
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			runes = append(runes, pc)
		case syntax.InstFail:
		}
	}
	return runes, match
}

// emptyOp returns the condition of an instruction that consumes no character.
func emptyOp(arg uint32) syntax.EmptyOp { return syntax.EmptyOp(arg) } //nolint:gosec // the compiler stored an EmptyOp in it

func keyOf(set []uint32) string {
	var b []byte
	for _, pc := range set {
		b = append(strconv.AppendUint(b, uint64(pc), 36), ' ')
	}
	return string(b)
}
