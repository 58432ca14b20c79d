package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/internal/app"
	"github.com/carve-ipam/carve/internal/cli"
)

// manual returns the documentation for the terminal. pages has man pages for each verb of ipamctl and for the server. completions has completions for
// four shells.
func manual(v string, when time.Time) (pages, completions []entry, err error) {
	root := cli.Manual()
	root.DisableAutoGenTag = true
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	if pages, err = verbPages(root, v, when); err != nil {
		return nil, nil, err
	}
	server, err := serverPage(v, when)
	if err != nil {
		return nil, nil, err
	}
	pages = append(pages, entry{"man8/carve-server.8", fileMode, server})
	for name, write := range map[string]func(*bytes.Buffer) error{
		"ipamctl.bash": func(b *bytes.Buffer) error { return root.GenBashCompletionV2(b, true) },
		"_ipamctl":     func(b *bytes.Buffer) error { return root.GenZshCompletion(b) },
		"ipamctl.fish": func(b *bytes.Buffer) error { return root.GenFishCompletion(b, true) },
		"ipamctl.ps1":  func(b *bytes.Buffer) error { return root.GenPowerShellCompletionWithDesc(b) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return nil, nil, err
		}
		completions = append(completions, entry{name, fileMode, b.Bytes()})
	}
	return pages, completions, nil
}

func verbPages(root *cobra.Command, v string, when time.Time) ([]entry, error) {
	dir, err := os.MkdirTemp("", "carve-man-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &when, Source: "Carve " + v, Manual: "Carve"}, dir); err != nil {
		return nil, err
	}
	return tree(dir, "man1")
}

// aFlag matches a line of the server's help. The groups are a flag, the kind of its value if it takes one, and its description.
var aFlag = regexp.MustCompile(`^ +((?:-\w, +)?--\S+)(?: (\S+))? {2,}(.*)\n$`)

// literal escapes a text for roff.
var literal = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`)

// serverPage returns the man page with the flags from --help.
func serverPage(v string, when time.Time) ([]byte, error) {
	_, usage, err := app.ParseConfig([]string{"--help"}, nil)
	if !errors.Is(err, pflag.ErrHelp) {
		return nil, fmt.Errorf("the server's help: %w", err)
	}
	_, flags, found := strings.Cut(usage, "CARVE_DATA_DIR):\n")
	if !found {
		return nil, errors.New("the server's help does not tell its flags as it did")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH \"CARVE\\-SERVER\" \"8\" \"%s\" \"Carve %s\" \"Carve\"\n", when.Format("Jan 2006"), v)
	b.WriteString(`.nh
.SH NAME
carve\-server \- hands out IP address space over HTTP
.SH SYNOPSIS
\fBcarve\-server\fP [flags]
.SH DESCRIPTION
Serves the API of Carve, with a web console and Swagger UI, on an embedded PostgreSQL, or on a PostgreSQL or CockroachDB of your own.
In archives of a release and in its packages the program is called carve\-server, elsewhere server.
.PP
Every flag can be given as a variable of the environment: \-\-data\-dir is CARVE_DATA_DIR. The service carve\-server.service reads
them from \fI/etc/carve/server.env\fP. A variable that begins with CARVE_ and is not known stops the start.
.SH OPTIONS
`)
	for line := range strings.Lines(flags) {
		told := aFlag.FindStringSubmatch(line)
		if told == nil {
			return nil, fmt.Errorf("the server's help does not tell a flag as it did: %q", line)
		}
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fP \\fI%s\\fP\n%s\n", literal.Replace(told[1]), literal.Replace(told[2]), literal.Replace(told[3]))
	}
	b.WriteString(`.SH FILES
.TP
\fI/etc/carve/server.env\fP
settings of the service
.TP
\fI/var/lib/carve\fP
home of the user carve: the embedded database, and the key of the first admin
.SH EXIT STATUS
0 after a stop that was asked for, 2 for flags or variables that are wrong, 1 for anything else.
.SH SEE ALSO
\fBipamctl\fP(1)
`)
	return b.Bytes(), nil
}

// below returns entries with a directory before their names.
func below(dir string, entries []entry) []entry {
	out := make([]entry, len(entries))
	for i, e := range entries {
		e.name = path.Join(dir, e.name)
		out[i] = e
	}
	return out
}
