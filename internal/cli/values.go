package cli

import (
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/client"
)

// none takes away what a `set` can take away.
const none = "none"

// orNull is a value of a merge patch: `none` is null, which gives a field its default.
func orNull(s string) any {
	if s == none {
		return nil
	}
	return s
}

// plain is a flag with a text.
type plain struct {
	said string
	// strict: an empty text is read too, and not as if the flag were not there.
	strict bool
	read   func(text string) (any, error) // nil: the text is what the document has
}

// String, Set and Type implement pflag.Value.
func (t *plain) String() string { return t.said }

// Set takes any text.
func (t *plain) Set(s string) error {
	t.said = s
	return nil
}

// Type is what the help calls the value.
func (*plain) Type() string { return "string" }

func (t *plain) document() (any, error) {
	if t.read == nil || t.said == "" && !t.strict {
		return t.said, nil
	}
	return t.read(t.said)
}

// text makes a flag with a text that is sent as it is.
func text(string, bool) value { return &plain{} }

// refOf makes a flag that names a thing, of another project too.
func refOf(flag string, _ bool) value {
	return &plain{read: func(s string) (any, error) { return orError(parseRef(flag, s)) }}
}

// orError is a pointer as a value, which is nil without one.
func orError[T any](v *T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

// nameOf makes a flag that names a thing of the project.
func nameOf(kind string) maker {
	return func(string, bool) value {
		return &plain{read: func(s string) (any, error) { return s, checkName(kind, s) }}
	}
}

// readBy makes a flag whose text is read by a function.
func readBy(read func(text string) (any, error)) maker {
	return func(string, bool) value { return &plain{read: read} }
}

// strictly makes a flag of which an empty text means something, or is a mistake.
func strictly(of maker) maker {
	return func(flag string, clearable bool) value {
		v := of(flag, clearable)
		if t, is := v.(*plain); is {
			t.strict = true
		}
		return v
	}
}

// oneOf makes a flag that takes one of a few words.
func oneOf[T ~string](of ...T) maker {
	return func(_ string, clearable bool) value {
		words := slices.Clone(of)
		if clearable {
			words = append(words, none)
		}
		return newChoice(new(string), "", words...)
	}
}

func (c *choice) document() (any, error) { return orNull(*c.value), nil }

func familyText(string, bool) value { return new(family) }

func (f *family) document() (any, error) { return string(*f), nil }

// bits makes a flag with a prefix length.
func bits(_ string, clearable bool) value { return &length{clearable: clearable} }

func (l *length) document() (any, error) {
	if l.bits == nil {
		return nil, nil //nolint:nilnil // null
	}
	return *l.bits, nil
}

// policy makes a flag with a time that a policy says.
func policy(_ string, clearable bool) value { return &policySpan{clearable: clearable} }

func (s *policySpan) document() (any, error) { return orNull(s.text), nil }

// pairsOf makes a flag of key=value pairs, which in a `set` can be taken away.
func pairsOf(_ string, clearable bool) value {
	if clearable {
		return &pairChanges{}
	}
	return &pairsValue{}
}

func (p *pairsValue) document() (any, error)  { return *p, nil }
func (p *pairChanges) document() (any, error) { return *p, nil }

// standard is a flag of pflag's own, with what a document has for it.
type standard struct {
	pflag.Value
	read func() (any, error)
}

func (s standard) document() (any, error) { return s.read() }

// made is the value of a flag that pflag makes.
func made(add func(f *pflag.FlagSet), read func() (any, error)) value {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	add(f)
	var v pflag.Value
	f.VisitAll(func(flag *pflag.Flag) { v = flag.Value })
	return standard{v, read}
}

// yesOrNo makes a flag that is given or not.
func yesOrNo(string, bool) value {
	is := new(bool)
	return made(func(f *pflag.FlagSet) { f.BoolVar(is, "v", false, "") }, func() (any, error) { return *is, nil })
}

// sign is a flag without a value, which stands for a word of the contract.
type sign struct {
	word  string
	given bool
}

// marked makes such a flag.
func marked(word string) maker { return func(string, bool) value { return &sign{word: word} } }

// String, Set and Type implement pflag.Value.
func (m *sign) String() string {
	if m.given {
		return m.word
	}
	return ""
}

// Set takes true and false.
func (m *sign) Set(s string) (err error) {
	m.given, err = strconv.ParseBool(s)
	return err
}

// Type is what the help calls the value.
func (*sign) Type() string { return "bool" }

func (m *sign) document() (any, error) { return m.String(), nil }

// listOf makes a flag that is repeated, each time with one text, or with several between commas. read judges them; a lone `none` in
// a `set` is what cleared is.
func listOf(commas bool, cleared any, read func(flag string, texts []string) (any, error)) maker {
	return func(flag string, clearable bool) value {
		var texts []string
		return made(func(f *pflag.FlagSet) {
			if commas {
				f.StringSliceVar(&texts, "v", nil, "")
			} else {
				f.StringArrayVar(&texts, "v", nil, "")
			}
		}, func() (any, error) {
			if clearable && len(texts) == 1 && texts[0] == none {
				return cleared, nil
			}
			return read(flag, texts)
		})
	}
}

// namesOf reads the names of a kind.
func namesOf(kind string) func(flag string, texts []string) (any, error) {
	return func(flag string, texts []string) (any, error) {
		for _, name := range texts {
			if err := checkName(kind, name); err != nil {
				return nil, err
			}
		}
		return texts, nil
	}
}

// Labels and annotations, as every kind that has them.
func labelFields() []field {
	return []field{
		{
			flag: "label", path: "metadata.labels", value: pairsOf, create: "label to set (repeatable)",
			set: "label to set, or with a dash behind its key to take away (repeatable)",
		},
		{
			flag: "annotation", path: "metadata.annotations", value: pairsOf, create: "annotation to set (repeatable)",
			set: "annotation to set, or to take away (repeatable)",
		},
	}
}

// description is a field that many kinds have.
func description() field {
	return field{flag: "description", path: "spec.description", value: text, usage: "`TEXT`: what it is for"}
}

var (
	strategies = oneOf(client.AllocationStrategyBestFit, client.AllocationStrategyFirstFit, client.AllocationStrategyRandom, client.AllocationStrategySparse)
	reclaims   = oneOf(client.ReclaimPolicyDelete, client.ReclaimPolicyRetain)
)
