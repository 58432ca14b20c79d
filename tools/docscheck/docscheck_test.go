package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkout writes a checkout's files. Without an index among them, it adds one with links to all pages of docs.
func checkout(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	if files[index] == "" {
		files[index] = "# Index\n"
		for name := range files {
			if rest, ok := strings.CutPrefix(name, "docs/"); ok && name != index {
				files[index] += "\n[page](" + rest + ")\n"
			}
		}
	}
	for name, text := range files {
		file := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o755))
	}
	return root
}

// checked runs all checks on a checkout.
func checked(t *testing.T, files map[string]string) (faults []fault, told string) {
	t.Helper()
	return recheck(t, checkout(t, files), false)
}

func recheck(t *testing.T, root string, update bool) (faults []fault, told string) {
	t.Helper()
	var out bytes.Buffer
	c := check{root: root, bin: filepath.Join(root, "bin"), only: regexp.MustCompile(""), update: update, parallel: 2}
	faults, err := c.all(t.Context(), &out)
	require.NoError(t, err)
	return faults, out.String()
}

// fakeServer prints a server's lines, and runs until it is stopped.
const fakeServer = `#!/bin/bash
mkdir -p data && echo up >data/state
echo "listening on $CARVE_LISTEN"
echo "  API         http://$CARVE_LISTEN/v1/projects"
echo "  admin key   carve_12ab_Xy-9"
exec sleep 1000 >/dev/null
`

const noServer = "<!-- docs-check: no server -->\n\n"

func TestPageWithTheRightOutputPasses(t *testing.T) {
	t.Parallel()
	faults, told := checked(t, map[string]string{
		"docs/a.md": noServer + "# A\n\n```console\n$ where=here\n$ echo $where\nhere\n$ cat <<END\n> one\n>\n> two\nEND\n```\n", // the heredoc has no end
		"docs/b.md": noServer + "```console\n$ where=here\n$ echo $where; echo wrong >&2\nhere\nwrong\n$ cat <<END\n> one\n>   two\n> END\none\n  two\n```\n\n" +
			"1. In a list:\n\n   ```console exit=3\n   $ (exit 3)\n   ```\n",
	})
	require.Len(t, faults, 1, told)
	require.Equal(t, "docs/a.md", faults[0].path)
}

func TestGeneratedValuesMayDifferAndAreReused(t *testing.T) {
	t.Parallel()
	faults, told := checked(t, map[string]string{"docs/a.md": noServer + "```console\n" +
		"$ cat /proc/sys/kernel/random/uuid | tee id\n00000000-0000-4000-8000-000000000000\n" +
		"$ grep -c 00000000-0000-4000-8000-000000000000 id\n1\n" + // the UUID on the page differs from the one in the file
		"$ date -u +'made  at    %Y-%m-%dT%H:%M:%SZ'\nmade   at  2026-01-01T00:00:00Z\n" +
		"$ seq 5\n1\n…\n5\n$ echo took 5ms of many\ntook 17ms of …\n```\n"})
	require.Empty(t, faults, told)
}

func TestPageThatDiffersFromItsCommandsIsAFault(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]struct{ text, what string }{
		"WrongOutput":            {"```console\n$ echo 10.0.0.0/24\n10.0.1.0/24\n```\n", "prints something else"},
		"OutputThatIsMissing":    {"```console\n$ true\nsomething\n```\n", "prints something else"},
		"OutputThatIsNotShown":   {"```console\n$ echo something\n```\n", "prints something else"},
		"WrongEnd":               {"```console\n$ seq 5\n1\n…\n4\n```\n", "prints something else"},
		"FailingCommand":         {"```console\n$ false\n```\n", "exit code 1, not 0"},
		"CommandThatDoesNotFail": {"```console exit=4\n$ true\n```\n", "exit code 0, not 4"},
		"MissingCommand":         {"```console\n$ no-such-program\nbash: …\n```\n", "exit code 127"},
		"EndOfTheShell":          {"```console\n$ exit 0\n```\n", "the shell ended"},
		"OtherJSON":              {"```console\n$ echo '{\"a\": 1}'\n```\n\n```json\n{\"a\": 2}\n```\n", "prints other JSON"},
		"NoJSON":                 {"```console\n$ echo one\n```\n\n```json\n{\"a\": 2}\n```\n", "prints no JSON"},
		"NoReason":               {"```console norun\n$ true\n```\n", "norun needs a reason"},
		"UnknownWord":            {"```console fast\n$ true\n```\n", "not \"fast\""},
		"NoCommand":              {"```console\ntrue\n```\n", "begins with a command"},
		"CommandsInAPlainBlock":  {"```\nipamctl pool list\n```\n", "neither ```console"},
		"CommandsInAShellBlock":  {"```sh\nmake test\n```\n", "neither ```console"},
		"BadYAML":                {"```yaml\na: [1\n```\n", "the YAML cannot be read"},
		"BadJSON":                {"```json\n{\"a\": …}\n```\n", "the JSON cannot be read"},
		"DeadLink":               {"[b](b.md)\n", "there is no such file"},
		"DeadAnchor":             {"# One thing\n\n[up](#another-thing)\n", "there is no such heading"},
		"LinkFromTheRoot":        {"[b](/docs/a.md)\n", "begins with /"},
		"LinkOutOfTheCheckout":   {"[b](../../b.md)\n", "leads out of the checkout"},
		"DeadImage":              {"![b](b.svg)\n", "there is no such file"},
		"RemarkWithoutAMeaning":  {"<!-- docs-check: nothing -->\n", "a remark says"},
		"PreparationThatFails":   {"<!-- docs-check: run\nfalse\n-->\n", "false: exit code 1"},
		"ServerThatIsMissing":    {"```console server\n$ no-such-server\n```\n", "the server did not start"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			faults, told := checked(t, map[string]string{"docs/a.md": noServer + page.text})
			require.NotEmpty(t, faults, told)
			require.Contains(t, faults[0].what, page.what)
			require.Equal(t, "docs/a.md", faults[0].path)
			require.Contains(t, told, faults[0].what)
		})
	}
}

func TestCommandOverItsTimeLimitEndsTheShell(t *testing.T) {
	t.Parallel()
	root := checkout(t, map[string]string{})
	p, err := makePlace(t.Context(), root, filepath.Join(root, "bin"))
	require.NoError(t, err)
	t.Cleanup(p.remove)
	s, err := startShell(t.Context(), p)
	require.NoError(t, err)
	t.Cleanup(s.close)
	_, _, err = s.run("sleep 1000", 1)
	require.ErrorContains(t, err, "took more than")
}

func TestUnlinkedPageIsAFault(t *testing.T) {
	t.Parallel()
	faults, _ := checked(t, map[string]string{
		index: "[a](a.md), [the kinds](kinds)", "docs/a.md": "[b](b.md#b-it-is)", "docs/b.md": "# B: it is!", "docs/kinds/README.md": "k", "docs/c.md": "nobody links this", "TOP.md": "nor this",
	})
	require.Len(t, faults, 2)
	require.Equal(t, "TOP.md", faults[0].path)
	require.Equal(t, "docs/c.md", faults[1].path)
	require.Equal(t, "cannot be reached from docs/README.md", faults[1].what)
}

func TestTableWithoutAFileOfItsFolderIsAFault(t *testing.T) {
	t.Parallel()
	const inUse = "# It is in use\n\n`in_use`, status 409\n"
	files := map[string]string{
		index:                     "[p](problems.md) [r](runbooks/README.md) [s](runbooks/b.md)",
		problemTable:              "# Problems\n\n| s | c | w |\n|---|---|---|\n| 409 | [`in_use`](problems/in_use.md) | It is in use |\n",
		"docs/problems/in_use.md": inUse, runbookTable: "[a](a.md#steps)", "docs/runbooks/a.md": "# Steps", "docs/runbooks/b.md": "",
	}
	faults, told := checked(t, files)
	require.Len(t, faults, 1, told)
	require.Equal(t, "docs/runbooks/README.md:1: has no link to b.md", faults[0].String())

	files[runbookTable] = "[a](a.md) [b](b.md)"
	files["docs/problems/in_use.md"] = strings.Replace(inUse, "409", "422", 1)
	faults, told = checked(t, files)
	require.Len(t, faults, 1, told)
	require.Contains(t, faults[0].what, "lacks the line | 422 | [`in_use`](problems/in_use.md) | It is in use |")
}

func TestEachPageHasItsOwnServer(t *testing.T) {
	t.Parallel()
	faults, told := checked(t, map[string]string{
		"bin/server": fakeServer,
		"docs/a.md":  "```console\n$ cat data/state\nup\n$ echo >data/state down\n$ echo http://127.0.0.1:8080/ 127.0.0.1:8081 $CARVE_SERVER\nhttp://127.0.0.1:8080/ 127.0.0.1:8081 http://127.0.0.1:8080\n```\n",
		"docs/b.md":  "```console server\n$ server --auth=keys\nlistening on 127.0.0.1:8080\n  admin key   carve_0_0\n```\n\n```console\n$ echo carve_0_0 | tr a-z A-Z; cat data/state\nCARVE_12AB_XY-9\nup\n```\n",
	})
	require.Empty(t, faults, told)
	require.Contains(t, told, "5 commands run")
}

func TestServerOutputThatDiffersIsAFault(t *testing.T) {
	t.Parallel()
	faults, told := checked(t, map[string]string{
		"bin/server": fakeServer,
		"docs/a.md":  "```console server\n$ server --auth=keys\nlistening on 127.0.0.1:8080\n  no admin    none\n```\n",
	})
	require.Len(t, faults, 1, told)
	require.Contains(t, faults[0].what, "the server does not print:   no admin")
}

func TestUpdateWritesOnlyTheCommandsOutput(t *testing.T) {
	t.Parallel()
	const before = noServer + "# A\n\n```console\n$ echo one\n$ echo two\nthree\n$ echo 00000000-0000-4000-8000-000000000000\n11111111-0000-4000-8000-000000000000\n```\n\n" +
		"- in a list\n\n  ```console\n  $ printf 'a\\n\\nb\\n'\n  ```\n\n```console\n$ echo '{\"b\": {\"c\": [1, 2]}, \"a\": null}'\n```\n```json\n```\nThe end.\n"
	const after = noServer + "# A\n\n```console\n$ echo one\none\n$ echo two\ntwo\n$ echo 00000000-0000-4000-8000-000000000000\n11111111-0000-4000-8000-000000000000\n```\n\n" +
		"- in a list\n\n  ```console\n  $ printf 'a\\n\\nb\\n'\n  a\n\n  b\n  ```\n\n```console\n$ echo '{\"b\": {\"c\": [1, 2]}, \"a\": null}'\n```\n```json\n" +
		"{\n  \"b\": {\n    \"c\": [1, 2]\n  },\n  \"a\": null\n}\n```\nThe end.\n"
	root := checkout(t, map[string]string{"docs/a.md": before})
	faults, told := recheck(t, root, true)
	require.NotEmpty(t, faults, told)
	text, err := os.ReadFile(filepath.Join(root, "docs/a.md"))
	require.NoError(t, err)
	require.Equal(t, after, string(text))
	faults, told = recheck(t, root, false)
	require.Empty(t, faults, told)
}

func TestSkippedBlocksAreListedWithTheirReason(t *testing.T) {
	t.Parallel()
	faults, told := checked(t, map[string]string{"docs/a.md": "```console norun: needs a CockroachDB\n$ false\n```\n"})
	require.Empty(t, faults, told)
	require.Contains(t, told, "docs/a.md:2: needs a CockroachDB")
	require.Contains(t, told, "0 commands run, 1 blocks not run")
}
