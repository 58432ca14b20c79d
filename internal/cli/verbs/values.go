package verbs

import (
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
)

// None takes away what a `set` can take away.
const None = "none"

// orNull is a value of a merge patch: `none` is null, which gives a field its default.
func orNull(s string) any {
	if s == None {
		return nil
	}
	return s
}

// Plain is a flag with a text.
type Plain struct {
	said string
	// strict: an empty text is read too, and not as if the flag were not there.
	strict bool
	Read   func(text string) (any, error) // nil: the text is what the document has
}

// String, Set and Type implement pflag.Value.
func (t *Plain) String() string { return t.said }

// Set takes any text.
func (t *Plain) Set(s string) error {
	t.said = s
	return nil
}

// Type is what the help calls the value.
func (*Plain) Type() string { return "string" }

func (t *Plain) document() (any, error) {
	if t.Read == nil || t.said == "" && !t.strict {
		return t.said, nil
	}
	return t.Read(t.said)
}

// Text makes a flag with a text that is sent as it is.
func Text(string, bool) Value { return &Plain{} }

// RefOf makes a flag that names a thing, of another project too.
func RefOf(flag string, _ bool) Value {
	return &Plain{Read: func(s string) (any, error) { return orError(parseRef(flag, s)) }}
}

// orError is a pointer as a value, which is nil without one.
func orError[T any](v *T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

// NameOf makes a flag that names a thing of the project.
func NameOf(kind string) Maker {
	return func(string, bool) Value {
		return &Plain{Read: func(s string) (any, error) { return s, session.CheckName(kind, s) }}
	}
}

// ReadBy makes a flag whose text is read by a function.
func ReadBy(read func(text string) (any, error)) Maker {
	return func(string, bool) Value { return &Plain{Read: read} }
}

// Strictly makes a flag of which an empty text means something, or is a mistake.
func Strictly(of Maker) Maker {
	return func(flag string, clearable bool) Value {
		v := of(flag, clearable)
		if t, is := v.(*Plain); is {
			t.strict = true
		}
		return v
	}
}

// OneOf makes a flag that takes one of a few words.
func OneOf[T ~string](of ...T) Maker {
	return func(_ string, clearable bool) Value {
		words := slices.Clone(of)
		if clearable {
			words = append(words, None)
		}
		return NewChoice(new(string), "", words...)
	}
}

func (c *Choice) document() (any, error) { return orNull(*c.value), nil }

// FamilyText makes a flag with an address family.
func FamilyText(string, bool) Value { return new(family) }

func (f *family) document() (any, error) { return string(*f), nil }

// Bits makes a flag with a prefix length.
func Bits(_ string, clearable bool) Value { return &Length{clearable: clearable} }

func (l *Length) document() (any, error) {
	if l.Bits == nil {
		return nil, nil //nolint:nilnil // null
	}
	return *l.Bits, nil
}

// Policy makes a flag with a time that a policy says.
func Policy(_ string, clearable bool) Value { return &policySpan{clearable: clearable} }

func (s *policySpan) document() (any, error) { return orNull(s.text), nil }

// PairsOf makes a flag of key=value pairs, which in a `set` can be taken away.
func PairsOf(_ string, clearable bool) Value {
	if clearable {
		return &pairChanges{}
	}
	return &PairsValue{}
}

func (p *PairsValue) document() (any, error)  { return *p, nil }
func (p *pairChanges) document() (any, error) { return *p, nil }

// standard is a flag of pflag's own, with what a document has for it.
type standard struct {
	pflag.Value
	read func() (any, error)
}

func (s standard) document() (any, error) { return s.read() }

// made is the value of a flag that pflag makes.
func made(add func(f *pflag.FlagSet), read func() (any, error)) Value {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	add(f)
	var v pflag.Value
	f.VisitAll(func(flag *pflag.Flag) { v = flag.Value })
	return standard{v, read}
}

// YesOrNo makes a flag that is given or not.
func YesOrNo(string, bool) Value {
	is := new(bool)
	return made(func(f *pflag.FlagSet) { f.BoolVar(is, "v", false, "") }, func() (any, error) { return *is, nil })
}

// sign is a flag without a value, which stands for a word of the contract.
type sign struct {
	word  string
	given bool
}

// Marked makes such a flag.
func Marked(word string) Maker { return func(string, bool) Value { return &sign{word: word} } }

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

// ListOf makes a flag that is repeated, each time with one text, or with several between commas. read judges them; a lone `none` in
// a `set` is what cleared is.
func ListOf(commas bool, cleared any, read func(flag string, texts []string) (any, error)) Maker {
	return func(flag string, clearable bool) Value {
		var texts []string
		return made(func(f *pflag.FlagSet) {
			if commas {
				f.StringSliceVar(&texts, "v", nil, "")
			} else {
				f.StringArrayVar(&texts, "v", nil, "")
			}
		}, func() (any, error) {
			if clearable && len(texts) == 1 && texts[0] == None {
				return cleared, nil
			}
			return read(flag, texts)
		})
	}
}

// NamesOf reads the names of a kind.
func NamesOf(kind string) func(flag string, texts []string) (any, error) {
	return func(flag string, texts []string) (any, error) {
		for _, name := range texts {
			if err := session.CheckName(kind, name); err != nil {
				return nil, err
			}
		}
		return texts, nil
	}
}

// Labels and annotations, as every kind that has them.
func LabelFields() []Field {
	return []Field{
		{
			Flag: "label", Path: "metadata.labels", Value: PairsOf, Create: "label to set (repeatable)",
			Set: "label to set, or with a dash behind its key to take away (repeatable)",
		},
		{
			Flag: "annotation", Path: "metadata.annotations", Value: PairsOf, Create: "annotation to set (repeatable)",
			Set: "annotation to set, or to take away (repeatable)",
		},
	}
}

// Description is a field that many kinds have.
func Description() Field {
	return Field{Flag: "description", Path: "spec.description", Value: Text, Usage: "`TEXT`: what it is for"}
}

var (
	Strategies = OneOf(client.AllocationStrategyBestFit, client.AllocationStrategyFirstFit, client.AllocationStrategyRandom, client.AllocationStrategySparse)
	Reclaims   = OneOf(client.ReclaimPolicyDelete, client.ReclaimPolicyRetain)
)
