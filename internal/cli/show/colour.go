package show

// colours are the terminal colours of additions, changes and removals.
var colours = map[string]string{"+": "\x1b[32m", "~": "\x1b[33m", "-": "\x1b[31m", "!": "\x1b[31;1m", "dim": "\x1b[2m", "bold": "\x1b[1m"}

const colourEnd = "\x1b[0m"

// Coloured gives a text the colour of a sign, if the output is a terminal with colours.
func (p *Printer) Coloured(sign, text string) string {
	if !p.Colour || colours[sign] == "" || text == "" {
		return text
	}
	return colours[sign] + text + colourEnd
}
