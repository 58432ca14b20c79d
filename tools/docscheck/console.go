package main

import (
	"fmt"
	"strconv"
	"strings"
)

// command is one command of a block, with its output on the page.
type command struct {
	text   string
	line   int      // line number in the page
	exit   int      // expected exit code
	output []string // as on the page
	from   int      // index of the first output line in the block
	to     int
	json   *block // the JSON block with the output, if the page has one
}

// claim holds the words behind "console".
type claim struct {
	server bool
	norun  string // the reason why the block does not run, or ""
	exit   int
}

// claimOf parses the words behind "console".
func claimOf(note string) (claim, error) {
	var c claim
	if reason, ok := strings.CutPrefix(note, "norun"); ok {
		c.norun = strings.TrimSpace(strings.TrimPrefix(reason, ":"))
		if c.norun == "" {
			return c, fmt.Errorf("norun needs a reason: ```console norun: needs a CockroachDB")
		}
		return c, nil
	}
	for word := range strings.FieldsSeq(note) {
		if code, ok := strings.CutPrefix(word, "exit="); ok {
			n, err := strconv.Atoi(code)
			if err != nil || n < 0 || n > 255 {
				return c, fmt.Errorf("%s is no exit code", word)
			}
			c.exit = n
			continue
		}
		if word != "server" {
			return c, fmt.Errorf("a console block says exit=N, server or norun: reason, not %q", word)
		}
		c.server = true
	}
	return c, nil
}

// commands splits a console block into commands.
func commands(b *block, exit int) ([]command, error) {
	var all []command
	inCommand := false
	lines := strings.Split(strings.TrimSuffix(b.text, "\n"), "\n")
	for i, line := range lines {
		if text, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, command{text: text, line: b.line + i, from: i + 1, to: i + 1})
			inCommand = true
			continue
		}
		if len(all) == 0 {
			if strings.TrimSpace(line) == "" {
				continue
			}
			return nil, fmt.Errorf("line %d: a console block begins with a command, a line with \"$ \"", b.line+i)
		}
		c := &all[len(all)-1]
		if text, ok := strings.CutPrefix(line, ">"); ok && inCommand && (text == "" || text[0] == ' ') {
			c.text += "\n" + strings.TrimPrefix(text, " ")
			c.from, c.to = i+1, i+1
			continue
		}
		inCommand = false
		c.output = append(c.output, line)
		c.to = i + 1
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("line %d: a console block without a command", b.line)
	}
	for i := range all {
		trimEnd(&all[i])
	}
	last := &all[len(all)-1]
	last.exit = exit
	if len(last.output) == 0 && b.next != nil && b.next.language == "json" {
		last.json = b.next
	}
	return all, nil
}

// trimEnd removes the empty lines after a command's output, which separate it from the next command.
func trimEnd(c *command) {
	for len(c.output) > 0 && strings.TrimSpace(c.output[len(c.output)-1]) == "" {
		c.output = c.output[:len(c.output)-1]
		c.to--
	}
}
