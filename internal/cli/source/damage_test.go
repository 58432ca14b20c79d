package source

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"
)

// damage is a damaged file. It has the first and the last line of the valid file that the damage affects.
type damage struct {
	name        string
	text        string
	first, last int
}

// damages returns the text with each kind of damage at each byte. A damage cuts the file, inserts a quotation mark, inserts a byte of another
// encoding, or removes a line end.
func damages(text string) (all []damage) {
	line, lines := 1, 1+strings.Count(strings.TrimSuffix(text, "\n"), "\n")
	for at := range len(text) {
		name := func(what string) string { return fmt.Sprintf("%s at %d", what, at) }
		all = append(all,
			damage{name("cut"), text[:at], line, lines},
			damage{name("quote"), text[:at] + `"` + text[at:], line, line},
			damage{name("byte"), text[:at] + "\xfc" + text[at+1:], line, line},
		)
		if text[at] == '\n' {
			all = append(all, damage{name("line end"), text[:at] + text[at+1:], line, line + 1})
			line++
		}
	}
	return all
}

// content returns records as text, without their positions.
func content(records []Record) []string {
	var all []string
	for n := range records {
		r := &records[n]
		var fields []string
		for name, value := range r.Fields.All() {
			fields = append(fields, name+"="+value)
		}
		slices.Sort(fields)
		text := fmt.Sprint(r.Kind, "|", r.Where(), "|", r.Name, "|", r.Domain, "|", r.Status, "|", r.Problem, "|", fields)
		if r.Own != nil {
			text += fmt.Sprint(r.Own.Space, r.Own.Parent, r.Own.Labels, r.Own.Annotations, string(r.Own.Spec))
		}
		all = append(all, text)
	}
	return all
}

// The reader refuses a damaged file. If it does not, only the rows that the damage affects may differ.
func TestDamagedFileIsRefusedOrDiffersOnlyInDamagedRows(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]string{
		"any.csv": "csv", "own.csv": "csv", "console.csv": "csv", "phpipam-subnets.csv": "phpipam", "phpipam-addresses.csv": "phpipam",
		"infoblox.csv": "infoblox", "prefixes.csv": "netbox", "aggregates-and-more.json": "netbox", "netbox-pages.json": "netbox",
		"aws-pools.json": "aws", "aws-subnets.json": "aws", "ipam-pool-0a1-cidrs.json": "aws", "whereabouts.json": "whereabouts",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(filepath.Join("testdata", name))
			require.NoError(t, err)
			whole, err := Read(of, []File{{Name: name, Text: bytes.NewReader(raw)}})
			require.NoError(t, err)
			want := content(rowsOf(whole))
			refused := 0
			for _, d := range damages(string(raw)) {
				got, err := Read(of, []File{{Name: name, Text: strings.NewReader(d.text)}})
				if err != nil {
					require.Contains(t, err.Error(), name, d.name)
					refused++
					continue
				}
				if strings.HasSuffix(name, ".json") { // the lines of JSON are not rows, so the reader reads all of it or refuses it
					require.Equal(t, want, content(rowsOf(got)), d.name)
					continue
				}
				left := content(rowsOf(got))
				for n, text := range want {
					if line := lineOf(rowsOf(whole)[n].ID); line >= d.first && line <= d.last {
						continue // the damage affects this row
					}
					if rowsOf(whole)[n].Kind == Reference {
						continue // the row has no address; the damage may have caused it
					}
					at := slices.Index(left, text)
					require.GreaterOrEqual(t, at, 0, "%s: %s is lost", d.name, text)
					left = slices.Delete(left, at, at+1)
				}
				require.LessOrEqual(t, len(left), 2*(d.last-d.first+1), "%s: rows were made up: %v", d.name, left)
			}
			require.NotZero(t, refused)
			wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().Bytes(raw)
			require.NoError(t, err)
			decoded, err := Read(of, []File{{Name: name, Text: bytes.NewReader(wide)}})
			require.NoError(t, err)
			require.Equal(t, want, content(rowsOf(decoded)))
			_, err = Read(of, []File{{Name: name, Text: bytes.NewReader(wide[2:])}})
			require.ErrorContains(t, err, "zero byte")
		})
	}
}

// lineOf returns the line number in the ID of a row.
func lineOf(id string) (line int) {
	_, rest, _ := strings.Cut(id, ":")
	_, _ = fmt.Sscanf(rest, "%d", &line) // other IDs have no line number
	return line
}

// The reader notices that a page of NetBox is missing. It also notices that a response about a pool of AWS is missing.
func TestMissingPageIsReported(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("testdata", "netbox-pages.json"))
	require.NoError(t, err)
	pages := strings.SplitAfter(string(raw), "]}\n")
	pages = pages[:len(pages)-1]
	require.Len(t, pages, 3)
	for n := range pages {
		var files []File
		for m, page := range pages {
			if m != n {
				files = append(files, File{Name: fmt.Sprint("page", m), Text: strings.NewReader(page)})
			}
		}
		_, err := Read("netbox", files)
		require.Error(t, err, "without page %d", n)
	}
	aws := func(names ...string) *Reading {
		var files []File
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join("testdata", name))
			require.NoError(t, err)
			files = append(files, File{Name: name, Text: bytes.NewReader(text)})
		}
		read, err := Read("aws", files)
		require.NoError(t, err)
		return read
	}
	require.NotContains(t, strings.Join(aws("aws-pools.json", "ipam-pool-0a1-allocations.json", "ipam-pool-0b2-allocations.json").Missing, "\n"), "pool ipam-pool-0b2:")
	require.Contains(t, strings.Join(aws("aws-pools.json", "ipam-pool-0a1-allocations.json").Missing, "\n"), "no file has the allocations of pool ipam-pool-0b2")
}

// rowsOf returns the rows of a reading.
func rowsOf(read *Reading) (all []Record) {
	for _, r := range read.Records.All() {
		all = append(all, r)
	}
	return all
}
