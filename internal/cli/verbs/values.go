package verbs

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// None is the word that clears a field in `set`.
const None = "none"

// Plain is the value of a flag with one text.
type Plain struct {
	said      string
	into      *string  // also receives the value; may be nil
	kind      string   // the type in the help; "" means string
	words     []string // all valid words, if there are only a few
	clearable bool     // `none` means null
	strict    bool     // an empty text is a value; otherwise it means that the flag is absent

	take func(text string) (string, error) // returns the normal form of the text; nil keeps the text
	// Read converts the text for a document. If it is nil, the document has the text itself.
	Read func(text string) (any, error)
}

// String returns the text.
func (t *Plain) String() string { return t.said }

// Set stores the text in the normal form that take returns.
func (t *Plain) Set(s string) (err error) {
	if t.take != nil && (!t.clearable || s != None) {
		if s, err = t.take(s); err != nil {
			return err
		}
	}
	t.said = s
	if t.into != nil {
		*t.into = s
	}
	return nil
}

// Type returns the type for the help.
func (t *Plain) Type() string { return show.FirstOf(t.kind, "string") }

func (t *Plain) document() (any, error) {
	switch {
	case t.clearable && t.said == None:
		return nil, nil //nolint:nilnil // null
	case t.Read == nil || t.said == "" && !t.strict:
		return t.said, nil
	default:
		return t.Read(t.said)
	}
}

// Text makes a flag for a text.
func Text(string, bool) Value { return &Plain{} }

// RefOf makes a flag for the name of an object, which may be in another project.
func RefOf(flag string, _ bool) Value {
	return &Plain{Read: func(s string) (any, error) { return orError(parseRef(flag, s)) }}
}

// orError returns the error, if there is one. Otherwise it returns the pointer as a value.
func orError[T any](v *T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

// NameOf makes a flag for the name of an object in the session's project.
func NameOf(kind string) Maker {
	return func(string, bool) Value {
		return &Plain{Read: func(s string) (any, error) { return s, session.CheckName(kind, s) }}
	}
}

// ReadBy makes a flag whose text the function read parses.
func ReadBy(read func(text string) (any, error)) Maker {
	return func(string, bool) Value { return &Plain{Read: read} }
}

// Strictly makes a flag for which an empty text is a value or a mistake. It does not mean that the flag is absent.
func Strictly(of Maker) Maker {
	return func(flag string, clearable bool) Value {
		v := of(flag, clearable)
		if t, is := v.(*Plain); is {
			t.strict = true
		}
		return v
	}
}

// NewChoice makes a flag that accepts one of a few words, in upper or lower case. It also stores the word in value.
func NewChoice[T ~string](value *string, preset T, of ...T) *Plain {
	*value = string(preset)
	t := &Plain{said: *value, into: value, kind: "word"}
	for _, w := range of {
		t.words = append(t.words, string(w))
	}
	t.take = func(text string) (string, error) {
		i := slices.IndexFunc(t.words, func(w string) bool { return strings.EqualFold(text, w) })
		if i < 0 {
			return "", fmt.Errorf("must be one of %s", show.JoinComma(t.words))
		}
		return t.words[i], nil
	}
	return t
}

// OneOf makes a flag that accepts one of a few words.
func OneOf[T ~string](of ...T) Maker {
	return func(_ string, clearable bool) Value {
		t := NewChoice(new(string), "", of...)
		if t.clearable = clearable; clearable {
			t.words = append(t.words, None)
		}
		return t
	}
}

// FamilyText makes a flag for an address family. It accepts 4 for IPv4 and 6 for IPv6.
func FamilyText(string, bool) Value {
	return &Plain{kind: "family", take: func(text string) (string, error) {
		switch strings.ToLower(text) {
		case "4", "v4", "ipv4":
			return string(client.IPFamilyIPv4), nil
		case "6", "v6", "ipv6":
			return string(client.IPFamilyIPv6), nil
		default:
			return "", fmt.Errorf("must be IPv4 or IPv6")
		}
	}}
}

// Bits makes a flag for a prefix length, such as 24 or /24.
func Bits(_ string, clearable bool) Value {
	var bits int
	return &Plain{
		kind: "length", clearable: clearable,
		take: func(text string) (_ string, err error) {
			if bits, err = strconv.Atoi(strings.TrimPrefix(text, "/")); err != nil || bits < 0 || bits > 128 {
				return "", fmt.Errorf("must be a prefix length, 0 to 128")
			}
			return strconv.Itoa(bits), nil
		},
		Read: func(string) (any, error) { return bits, nil },
	}
}

// Pairs is the value of a repeatable flag for key=value pairs. In `set`, the form key- removes a key.
type Pairs struct {
	of        map[string]*string // nil removes the key
	clearable bool
}

// PairsOf makes a flag for pairs.
func PairsOf(_ string, clearable bool) Value { return &Pairs{map[string]*string{}, clearable} }

// String returns the pairs, sorted by key.
func (p *Pairs) String() string {
	out := make([]string, 0, len(p.of))
	for _, key := range slices.Sorted(maps.Keys(p.of)) {
		if value := p.of[key]; value != nil {
			out = append(out, key+"="+*value)
		} else {
			out = append(out, key+"-")
		}
	}
	return strings.Join(out, ",")
}

// Set adds one pair.
func (p *Pairs) Set(s string) error {
	key, value, found := strings.Cut(s, "=")
	kept := &value
	if bare, away := strings.CutSuffix(s, "-"); p.clearable && !found && away {
		key, kept, found = bare, nil, true
	}
	if other, rest, more := strings.Cut(value, ","); more && strings.Contains(rest, "=") {
		return fmt.Errorf("must be one key=value; give the flag again for each: %s=%s and %s", key, other, rest)
	}
	switch _, twice := p.of[key]; {
	case (!found || key == "") && p.clearable:
		return fmt.Errorf("must be key=value, or key- to remove the key")
	case !found || key == "":
		return fmt.Errorf("must be key=value")
	case twice:
		return fmt.Errorf("sets %s twice", key)
	}
	p.of[key] = kept
	return nil
}

// Type returns the type for the help.
func (*Pairs) Type() string { return "key=value" }

func (p *Pairs) document() (any, error) {
	if p.clearable {
		return p.of, nil
	}
	set := map[string]string{}
	for key, value := range p.of {
		set[key] = *value
	}
	return set, nil
}

// standard is one of pflag's own values, with a function that converts it for a document.
type standard struct {
	pflag.Value
	read func() (any, error)
}

func (s standard) document() (any, error) { return s.read() }

// made returns the value of a flag that pflag itself creates.
func made(add func(f *pflag.FlagSet), read func() (any, error)) Value {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	add(f)
	var v pflag.Value
	f.VisitAll(func(flag *pflag.Flag) { v = flag.Value })
	return standard{v, read}
}

// YesOrNo makes a boolean flag.
func YesOrNo(string, bool) Value {
	is := new(bool)
	return made(func(f *pflag.FlagSet) { f.BoolVar(is, "v", false, "") }, func() (any, error) { return *is, nil })
}

// sign is a boolean flag. If it is set, the document has a word of the contract.
type sign struct {
	word  string
	given bool
}

// Marked makes a boolean flag that puts a word into the document.
func Marked(word string) Maker { return func(string, bool) Value { return &sign{word: word} } }

// String returns the word if the flag is set, and "" otherwise.
func (m *sign) String() string {
	if m.given {
		return m.word
	}
	return ""
}

// Set accepts true and false.
func (m *sign) Set(s string) (err error) {
	m.given, err = strconv.ParseBool(s)
	return err
}

// Type returns the type for the help.
func (*sign) Type() string { return "bool" }

func (m *sign) document() (any, error) { return m.String(), nil }

// ListOf makes a repeatable flag for texts. If commas is true, one flag can have several texts that are separated by commas. read checks the texts.
// In `set`, a single `none` means the value cleared.
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

// NamesOf returns a function that checks names of objects of a kind.
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

// LabelFields returns the fields for labels and annotations.
func LabelFields() []Field {
	return []Field{
		{
			Flag: "label", Path: "metadata.labels", Value: PairsOf, Create: "label to set (repeatable)",
			Set: "label to set, or key- to remove one (repeatable)",
		},
		{
			Flag: "annotation", Path: "metadata.annotations", Value: PairsOf, Create: "annotation to set (repeatable)",
			Set: "annotation to set, or key- to remove one (repeatable)",
		},
	}
}

// Description returns the field for the description.
func Description() Field {
	return Field{Flag: "description", Path: "spec.description", Value: Text, Usage: "`TEXT` that describes it"}
}

var (
	// Strategies makes a flag for the allocation strategy of a pool.
	Strategies = OneOf(client.AllocationStrategyBestFit, client.AllocationStrategyFirstFit,
		client.AllocationStrategyRandom, client.AllocationStrategySparse)
	// Reclaims makes a flag for the reclaim policy. The policy determines the use of a block after its claim is deleted.
	Reclaims = OneOf(client.ReclaimPolicyDelete, client.ReclaimPolicyRetain)
)

// parseRef parses a reference of the form `name` or `project/name`.
func parseRef(flag, s string) (*client.Ref, error) {
	project, name, foreign := strings.Cut(s, "/")
	if !foreign {
		project, name = "", s
	}
	if !session.NameRE.MatchString(name) || foreign && !session.NameRE.MatchString(project) {
		return nil, exit.Usagef("--%s is a name or project/name, not %q", flag, s)
	}
	return &client.Ref{Project: project, Name: name}, nil
}
