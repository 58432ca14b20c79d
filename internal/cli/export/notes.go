package export

import (
	"fmt"
	"slices"
)

// namedInNote limits the objects that a note names. The note only counts the rest.
const namedInNote = 3

// notes collects changes and omissions. Each sentence has a list of objects.
type notes struct {
	sentences []string // in the order of their first use
	about     map[string][]string
}

// add adds an object to a sentence. The sentence starts with its verb.
func (n *notes) add(sentence, thing string) {
	if n.about == nil {
		n.about = map[string][]string{}
	}
	if n.about[sentence] == nil {
		n.sentences = append(n.sentences, sentence)
	}
	if !slices.Contains(n.about[sentence], thing) {
		n.about[sentence] = append(n.about[sentence], thing)
	}
}

// lines returns the notes as text. Each line is about one object, and one more line counts the objects that are not named.
func (n *notes) lines() (out []string) {
	for _, sentence := range n.sentences {
		objects := n.about[sentence]
		for _, thing := range objects[:min(len(objects), namedInNote)] {
			out = append(out, thing+" "+sentence)
		}
		if more := len(objects) - namedInNote; more > 0 {
			out = append(out, fmt.Sprintf("and the same for %d more", more))
		}
	}
	return out
}
