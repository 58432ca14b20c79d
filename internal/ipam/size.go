package ipam

// Sized is implemented by values whose size the server checks before it keeps or sends them.
type Sized interface {
	// Size estimates the size as JSON in bytes. It counts the texts exactly, and a constant for all other fields.
	Size() int
}

// bareSize is a resource's estimated size without its texts.
const bareSize = 512

// Size implements Sized for every resource that embeds Metadata.
func (m Metadata) Size() int { return bareSize + sizeOf(m.Labels) + sizeOf(m.Annotations) }

// Size implements Sized. Reservations' reasons are the only texts in a pool's spec that may be long in total.
func (p Pool) Size() int {
	n := p.Metadata.Size()
	for _, r := range p.Spec.Reservations {
		n += bareSize/4 + TextSize(r.Reason)
	}
	return n
}

// Size implements Sized.
func (a Allocation) Size() int { return bareSize + TextSize(a.Reason) }

// Size implements Sized.
func (a Alert) Size() int { return bareSize + sizeOf(a.Labels) }

// Size implements Sized.
func (e Event) Size() int { return bareSize + len(e.Before) + len(e.After) }

// Size implements Sized.
func (d Delivery) Size() int { return bareSize + len(d.Message) }

// Size implements Sized.
func (h Hold) Size() int { return bareSize }

// Size implements Sized.
func (a Attachment) Size() int { return bareSize }

func sizeOf(texts map[string]string) (n int) {
	for key, value := range texts {
		n += len(`"":"",`) + TextSize(key) + TextSize(value)
	}
	return n
}

// TextSize returns how many bytes encoding/json needs for a text, without the quotes.
func TextSize(s string) int {
	n := len(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t':
			n++
		case c < ' ' || c == '<' || c == '>' || c == '&':
			n += len(`\u0000`) - 1
		case c == 0xe2: // U+2028 and U+2029 are escaped; other characters with the same first byte are overestimated
			n += len(`\u2028`) - len("\u2028")
		}
	}
	return n
}
