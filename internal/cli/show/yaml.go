package show

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// yamlOf converts a JSON document into YAML. It keeps the members' order and the numbers' spelling.
func yamlOf(doc json.RawMessage) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	node, err := yamlValue(d)
	if err != nil {
		return nil, fmt.Errorf("the server's response is not JSON: %w", err)
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(node), e.Close()); err != nil {
		return nil, fmt.Errorf("cannot print the response as YAML: %w", err)
	}
	return []byte(escapedYAML(b.String())), nil
}

// yamlValue reads one JSON value.
func yamlValue(d *json.Decoder) (*yaml.Node, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	value := "null"
	switch v := t.(type) {
	case json.Delim:
		node := &yaml.Node{Kind: yaml.SequenceNode}
		if v == '{' {
			node.Kind = yaml.MappingNode
		}
		for d.More() { // in an object, names and values alternate
			member, err := yamlValue(d)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, member)
		}
		if len(node.Content) == 0 {
			node.Style = yaml.FlowStyle // {} and []
		}
		_, err := d.Token()
		return node, err
	case string:
		return yamlText(v), nil
	case json.Number:
		value = v.String()
	case bool:
		value = strconv.FormatBool(v)
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: value}, nil
}

// yamlText returns a text as YAML. A text of several lines becomes a block. An ambiguous text is in quotes, also if only YAML 1.1 misreads it
// ("yes").
//
// Some texts of several lines need quotes too. A block cannot start with blanks, and cannot contain tabs or carriage returns in every position.
// Hidden characters need escapes, which only quoted text can have.
func yamlText(v string) *yaml.Node {
	text := &yaml.Node{}
	if strings.ContainsAny(v, "\t\r") || hides(v) || strings.TrimLeft(v, " \n") != v || text.Encode(v) != nil || text.Value != v || text.ShortTag() != "!!str" {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: v}
	}
	return text
}

// JSONOf reads a file with one YAML or JSON document and returns JSON. It returns JSON unchanged, and the server validates it. In YAML it resolves
// anchors and merges, and it keeps dates as texts.
func JSONOf(text []byte) (json.RawMessage, error) {
	if json.Valid(text) {
		if line := notUTF8(text); line > 0 {
			return nil, fmt.Errorf("line %d is not UTF-8: letters would be lost", line)
		}
		return text, nil
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	if err := d.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it is empty")
		}
		return nil, err
	}
	if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("it contains more than one document")
	}
	asText(&doc)
	var value any
	if err := doc.Decode(&value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// notUTF8 returns the number of the first line that is not UTF-8. If there is none, it returns 0. Only JSON needs this check, because the YAML parser
// refuses such a text itself.
func notUTF8(text []byte) int {
	for n, line := range bytes.Split(text, []byte("\n")) {
		if !utf8.Valid(line) {
			return n + 1
		}
	}
	return 0
}

// asText converts YAML dates to strings. It also converts map keys to strings, because JSON allows no other keys.
func asText(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && c.Kind == yaml.ScalarNode && c.ShortTag() != "!!merge" {
			c.Tag = "!!str"
		}
		asText(c)
	}
}
