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

// Plain is a flag's value that has one text.
type Plain struct {
	text      string
	into      *string  // also receives the value; may be nil
	kind      string   // the type in the help; "" means string
	words     []string // all valid words, if there are only a few
	clearable bool     // `none` means null
	strict    bool     // an empty text is a value; otherwise it means that the flag is absent

	take func(text string) (string, error) // returns the text's normal form; nil keeps the text
	// Read converts the text for a document. If it is nil, the document has the text itself.
	Read func(text string) (any, error)
}

// String returns the text.
func (t *Plain) String() string { return t.text }

// Set stores the text in the normal form that take returns.
func (t *Plain) Set(s string) (err error) {
	if t.take != nil && (!t.clearable || s != None) {
		if s, err = t.take(s); err != nil {
			return err
		}
	}
	t.text = s
	if t.into != nil {
		*t.into = s
	}
	return nil
}

// Type returns the type for the help.
func (t *Plain) Type() string { return show.FirstOf(t.kind, "string") }

func (t *Plain) document() (any, error) {
	switch {
	case t.clearable && t.text == None:
		return nil, nil //nolint:nilnil // null
	case t.Read == nil || t.text == "" && !t.strict:
		return t.text, nil
	default:
		return t.Read(t.text)
	}
}

// anyText makes a flag for a text.
func anyText(string, bool) Value { return &Plain{} }

// RefOf makes a flag for an object's name. The object may be in another project.
func RefOf(flag string, _ bool) Value {
	return &Plain{Read: func(text string) (any, error) {
		if session.CheckRef("", text) != nil {
			return nil, exit.Usagef("--%s is a name or project/name, not %q", flag, text)
		}
		return ParseRef(text), nil
	}}
}

// ParseRef parses a reference such as `name` or `project/name`, which session.CheckRef has checked.
func ParseRef(text string) *client.Ref {
	if project, name, foreign := strings.Cut(text, "/"); foreign {
		return &client.Ref{Project: project, Name: name}
	}
	return &client.Ref{Name: text}
}

// NameOf makes a flag for an object's name in the session's project.
func NameOf(kind string) Maker {
	return func(string, bool) Value {
		return &Plain{Read: func(s string) (any, error) { return s, session.CheckName(kind, s) }}
	}
}

// ReadBy makes a flag whose text the function read parses.
func ReadBy(read func(text string) (any, error)) Maker {
	return func(string, bool) Value { return &Plain{Read: read} }
}

// Strictly makes a flag for which an empty text is a value or a mistake. The empty text does not mean that the flag is absent.
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
	t := &Plain{text: *value, into: value, kind: "word", words: show.Texts(of)}
	t.take = func(text string) (string, error) {
		i := slices.IndexFunc(t.words, func(w string) bool { return strings.EqualFold(text, w) })
		if i < 0 {
			return "", fmt.Errorf("must be one of %s", show.JoinComma(t.words))
		}
		return t.words[i], nil
	}
	return t
}

// oneOf makes a flag that accepts one of a few words.
func oneOf[T ~string](of ...T) Maker {
	return func(_ string, clearable bool) Value {
		t := NewChoice(new(string), "", of...)
		if t.clearable = clearable; clearable {
			t.words = append(t.words, None)
		}
		return t
	}
}

// familyText makes a flag for an address family. It accepts 4 for IPv4 and 6 for IPv6.
func familyText(string, bool) Value {
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
	return &Plain{
		kind: "length", clearable: clearable,
		take: func(text string) (string, error) {
			bits, err := strconv.Atoi(strings.TrimPrefix(text, "/"))
			if err != nil || bits < 0 || bits > 128 {
				return "", fmt.Errorf("must be a prefix length, 0 to 128")
			}
			return strconv.Itoa(bits), nil
		},
		Read: func(text string) (any, error) { return strconv.Atoi(text) },
	}
}

// pairs has the values that a repeatable flag for key=value pairs receives. In `set`, the form key- removes a key.
type pairs struct {
	of        map[string]*string // nil removes the key
	clearable bool
}

// pairsOf makes a flag for pairs.
func pairsOf(_ string, clearable bool) Value { return &pairs{map[string]*string{}, clearable} }

// String returns the pairs, sorted by key.
func (p *pairs) String() string {
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
func (p *pairs) Set(s string) error {
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
func (*pairs) Type() string { return "key=value" }

func (p *pairs) document() (any, error) {
	if p.clearable {
		return p.of, nil
	}
	set := map[string]string{}
	for key, value := range p.of {
		set[key] = *value
	}
	return set, nil
}

// yesOrNo makes a boolean flag.
func yesOrNo(string, bool) Value {
	return &Plain{
		kind: "bool", text: "false",
		take: func(text string) (string, error) {
			yes, err := strconv.ParseBool(text)
			return strconv.FormatBool(yes), err
		},
		Read: func(text string) (any, error) { return text == "true", nil },
	}
}

// WordFlag makes a boolean flag that stands for a word in the contract.
func WordFlag(word string) Maker {
	return func(string, bool) Value {
		return &Plain{kind: "bool", take: func(text string) (string, error) {
			if yes, err := strconv.ParseBool(text); err != nil || !yes {
				return "", err
			}
			return word, nil
		}}
	}
}

// list has the texts that a repeatable flag receives.
type list struct {
	pflag.Value
	texts *[]string
	read  func(texts []string) (any, error)
}

func (l list) document() (any, error) { return l.read(*l.texts) }

// ListOf makes a repeatable flag for texts. If commas is true, one flag can have several texts that are separated by commas. read checks the texts.
// In `set`, a single `none` means the value cleared.
func ListOf(commas bool, cleared any, read func(flag string, texts []string) (any, error)) Maker {
	return func(flag string, clearable bool) Value {
		f, texts := pflag.NewFlagSet("", pflag.ContinueOnError), &[]string{}
		if commas {
			f.StringSliceVar(texts, flag, nil, "")
		} else {
			f.StringArrayVar(texts, flag, nil, "")
		}
		return list{f.Lookup(flag).Value, texts, func(texts []string) (any, error) {
			if clearable && len(texts) == 1 && texts[0] == None {
				return cleared, nil
			}
			return read(flag, texts)
		}}
	}
}

// AnyTexts accepts all texts that a list flag receives, because the server checks them.
func AnyTexts(_ string, texts []string) (any, error) { return texts, nil }

// NamesOf returns a function that checks object names.
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
