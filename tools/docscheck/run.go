package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// runner runs one page's commands.
type runner struct {
	result

	place   *place
	shell   *shell
	servers []*server
	carried *carried
}

// runPage runs a page's commands in order, and stops everything that it started.
func runPage(ctx context.Context, root, bin string, p *page) (res result) {
	r := &runner{result: result{page: p}, carried: newCarried()}
	defer func(began time.Time) { res = r.result; res.took = time.Since(began) }(time.Now())
	steps := r.steps(ctx)
	if len(steps) == 0 {
		return r.result
	}
	var err error
	if r.place, err = makePlace(ctx, root, bin); err != nil {
		r.fault(1, err.Error(), "")
		return r.result
	}
	defer r.place.remove()
	defer func() {
		for _, s := range r.servers {
			s.stop()
		}
	}()
	if r.shell, err = startShell(ctx, r.place); err != nil {
		r.fault(1, err.Error(), "")
		return r.result
	}
	defer r.shell.close()
	for _, s := range steps {
		if !s() {
			break
		}
	}
	return r.result
}

func (r *runner) fault(line int, what, detail string) {
	r.faults = append(r.faults, fault{r.page.path, line, what, detail})
}

// steps returns a page's steps. Each reports whether the next step can run. A page that declares no server gets one by default.
func (r *runner) steps(ctx context.Context) []func() bool {
	var steps []func() bool
	own := false // whether the page declares its servers
	for i := range r.page.blocks {
		b := &r.page.blocks[i]
		switch b.language {
		case "remark":
			switch {
			case strings.HasPrefix(b.note, "server "):
				own = true
				steps = append(steps, func() bool { return r.serve(ctx, []command{{text: b.note, line: b.line}}) })
			case b.note == "no server":
				own = true
			case b.note == "run":
				steps = append(steps, func() bool { return r.prepare(b) })
			default:
				r.fault(b.line, fmt.Sprintf("a remark says server ..., no server or run, not %q", b.note), "")
			}
		case "console":
			c, err := claimOf(b.note)
			if err != nil {
				r.fault(b.line, err.Error(), "")
				continue
			}
			if c.norun != "" {
				r.unrun = append(r.unrun, unrun{r.page.path, b.line, c.norun})
				continue
			}
			all, err := commands(b, c.exit)
			if err != nil {
				r.fault(b.line, err.Error(), "")
				continue
			}
			if c.server {
				own = true
				steps = append(steps, func() bool { r.ran++; return r.serve(ctx, all) })
				continue
			}
			steps = append(steps, func() bool { return r.console(b, all) })
		default:
			if reason, ok := strings.CutPrefix(b.note, "norun:"); ok && shells[b.language] {
				r.unrun = append(r.unrun, unrun{r.page.path, b.line, strings.TrimSpace(reason)})
			}
		}
	}
	if len(steps) > 0 && !own {
		usual := func() bool { return r.serve(ctx, []command{{text: "server --auth=dev", line: 1}}) }
		steps = append([]func() bool{usual}, steps...)
	}
	return steps
}

// serve starts the server of a block, and looks for the page's lines in the server's output.
func (r *runner) serve(ctx context.Context, all []command) bool {
	if len(all) != 1 {
		r.fault(all[1].line, "a block that starts a server has one command", "")
		return false
	}
	c := all[0]
	// The server does not depend on the context, because stop ends it cleanly even if the context ends.
	s, err := startServer(context.WithoutCancel(ctx), r.place, r.place.ours(r.carried.command(c.text)), len(r.servers))
	if err != nil {
		r.fault(c.line, err.Error(), "")
		return false
	}
	r.servers = append(r.servers, s)
	var pairs []int
	missing := ""
	heard := func() []string { return strings.Split(r.place.theirs(strings.Join(s.heard, "\n")), "\n") }
	look := func() bool {
		pairs, missing = among(c.output, heard())
		return missing == ""
	}
	if !look() && !s.hear(10*time.Second, look) {
		r.fault(c.line, "the server does not print: "+missing, strings.Join(heard(), "\n"))
		return true
	}
	r.carried.learn(c.output, heard(), pairs)
	go func() {
		for range s.lines { // reads later output, so that the pipe does not fill up
			continue
		}
	}()
	return true
}

// prepare runs the commands that a page requires.
func (r *runner) prepare(b *block) bool {
	for i, text := range strings.Split(strings.TrimSpace(b.text), "\n") {
		out, code, err := r.shell.run(r.place.ours(r.carried.command(text)), commandLimit)
		if err != nil || code != 0 {
			r.fault(b.line+1+i, fmt.Sprintf("%s: exit code %d, %v", text, code, err), out)
			return false
		}
	}
	return true
}

// console runs the commands of a block and compares their output.
func (r *runner) console(b *block, all []command) bool {
	var outputs []string // new outputs for an update, one for each command
	wrong := false
	for _, c := range all {
		r.ran++
		raw, code, err := r.shell.run(r.place.ours(r.carried.command(c.text)), limitOf(c.text))
		printed := r.carried.output(r.place.theirs(raw))
		if err != nil {
			r.fault(c.line, fmt.Sprintf("%s: %v", firstLine(c.text), err), printed)
			return false
		}
		if code != c.exit {
			r.fault(c.line, fmt.Sprintf("%s: exit code %d, not %d", firstLine(c.text), code, c.exit), printed)
		}
		if c.json != nil {
			r.compareJSON(c, raw, printed)
			outputs = append(outputs, "")
			continue
		}
		got := split(printed)
		pairs, ok := match(c.output, got)
		if ok {
			r.carried.learn(c.output, split(r.place.theirs(raw)), pairs)
			outputs = append(outputs, strings.Join(c.output, "\n"))
			continue
		}
		if slices.Contains(c.output, anything) { // the author has shortened the output by hand
			outputs = append(outputs, strings.Join(c.output, "\n"))
		} else {
			wrong = true
			outputs = append(outputs, strings.Join(got, "\n"))
		}
		r.fault(c.line, firstLine(c.text)+": prints something else", difference(c.output, got))
	}
	if wrong {
		r.changes = append(r.changes, consoleChange(b, all, outputs))
	}
	return true
}

// compareJSON compares a command's output with the JSON block after the command.
func (r *runner) compareJSON(c command, raw, printed string) {
	got, err := jsonLines(printed)
	if err != nil {
		r.fault(c.line, firstLine(c.text)+": prints no JSON", printed)
		return
	}
	said, err := jsonLines(c.json.text)
	if err == nil {
		if pairs, ok := match(said, got); ok {
			unchanged, err := jsonLines(r.place.theirs(raw))
			if err == nil {
				r.carried.learn(said, unchanged, pairs)
			}
			return
		}
	}
	r.fault(c.json.line, firstLine(c.text)+": prints other JSON", difference(said, got))
	if pretty, err := jsonPage(printed); err == nil {
		r.changes = append(r.changes, change{c.json, pretty + "\n"})
	}
}

// limitOf returns the time limit of a command. make and go run may have to build first.
func limitOf(text string) time.Duration {
	if strings.HasPrefix(text, "make ") || strings.HasPrefix(text, "go ") {
		return startLimit
	}
	return commandLimit
}

func firstLine(text string) string {
	first, _, more := strings.Cut(text, "\n")
	if more {
		return first + " " + anything
	}
	return first
}

// split returns the lines of a text without empty lines at its end.
func split(text string) []string {
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), " \t\n") // HTTP ends its lines with CR LF
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
