package show

// colours maps a sign to its terminal colour: "+" for an addition, "~" for a change, "-" for a removal.
var colours = map[string]string{"+": "\x1b[32m", "~": "\x1b[33m", "-": "\x1b[31m", "!": "\x1b[31;1m", "dim": "\x1b[2m", "bold": "\x1b[1m"}

const colourEnd = "\x1b[0m"

// Coloured adds the colour of a sign to a text. If the output is not a terminal with colours, it returns the text unchanged.
func (p *Printer) Coloured(sign, text string) string {
	if !p.Colour || colours[sign] == "" || text == "" {
		return text
	}
	return colours[sign] + text + colourEnd
}
