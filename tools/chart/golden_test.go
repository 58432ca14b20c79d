package chart

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what is rendered to testdata/golden")

// password matches the only part that differs in each run: the password of the dev profile's database.
var password = regexp.MustCompile(`(password: |carve:)[A-Za-z0-9]{32}\b`)

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata/golden", name)
	got = password.ReplaceAllString(got, "${1}MADE-ONCE")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "go test . -update writes it")
	assert.Equal(t, string(want), got, "if it is meant: cd tools/chart && go test . -update")
}

func TestEachValuesFileMatchesItsGoldenFile(t *testing.T) {
	t.Parallel()
	chart := withFolders(t, "testdata/folders")
	for name, path := range valuesFiles(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name+".yaml", render(t, chart, "--values="+path))
		})
	}
}

// notes returns the notes that an installation with a values file shows.
func notes(t *testing.T, values string) string {
	t.Helper()
	out, err := helm(t, "install", "ipam", source, "--namespace=network", "--dry-run=client", "--values="+values)
	require.NoError(t, err)
	_, notes, found := strings.Cut(out, "NOTES:\n")
	require.True(t, found, out)
	return notes
}

func TestNotesMatchTheirGoldenFiles(t *testing.T) {
	t.Parallel()
	for name, path := range valuesFiles(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name+".notes.txt", notes(t, path))
		})
	}
}

// step matches the number of a step in the notes.
var step = regexp.MustCompile(`(?m)^(\d+)\. `)

func TestNotesNumberTheirStepsWithoutGaps(t *testing.T) {
	t.Parallel()
	for name, path := range valuesFiles(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps := step.FindAllStringSubmatch(notes(t, path), -1)
			require.NotEmpty(t, steps)
			for i, found := range steps {
				assert.Equal(t, strconv.Itoa(i+1), found[1])
			}
		})
	}
}

func TestTheChartLints(t *testing.T) {
	t.Parallel()
	for name, path := range valuesFiles(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := helm(t, "lint", "--strict", source, "--values="+path)
			require.NoError(t, err, out)
		})
	}
}

func TestMonitoringRendersWithoutFolders(t *testing.T) {
	t.Parallel()
	out := render(t, withFolders(t, ""), "--values=testdata/values/everything.yaml")
	for _, object := range objects(t, out) {
		assert.NotEqual(t, "PrometheusRule", object["kind"])
		assert.NotEqual(t, "ConfigMap", object["kind"])
	}
}
