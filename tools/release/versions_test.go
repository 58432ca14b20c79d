package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/carve-ipam/carve/tools/image/recipe"
)

const repo = "../.."

func TestEveryFileHasTheVersion(t *testing.T) {
	t.Parallel()
	v, err := version(repo)
	require.NoError(t, err)
	wrong, err := misplaced(repo, v, false)
	require.NoError(t, err)
	assert.Empty(t, wrong, "make version")
	changes, err := os.ReadFile(repo + "/CHANGELOG.md")
	require.NoError(t, err)
	newest := regexp.MustCompile(`(?m)^## \[([0-9][^\]]*)\]`).FindSubmatch(changes)
	require.NotNil(t, newest, "the changelog names no version")
	assert.Equal(t, v, string(newest[1]), "the changelog's newest version")
}

func TestFileWithAnotherVersionIsFoundAndCorrected(t *testing.T) {
	t.Parallel()
	copied := t.TempDir()
	for _, p := range places {
		text, err := os.ReadFile(filepath.Join(repo, p.file))
		require.NoError(t, err)
		to := filepath.Join(copied, p.file)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o750))
		require.NoError(t, os.WriteFile(to, text, 0o600))
	}
	wrong, err := misplaced(copied, "7.8.9-rc.1", true)
	require.NoError(t, err)
	assert.Len(t, wrong, len(places))
	wrong, err = misplaced(copied, "7.8.9-rc.1", false)
	require.NoError(t, err)
	assert.Empty(t, wrong)
	var contract struct{ Info struct{ Version string } }
	text, err := os.ReadFile(copied + "/openapi.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &contract))
	assert.Equal(t, "7.8.9-rc.1", contract.Info.Version)
}

func TestVersionFileHasOneSemanticVersion(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{
		"1.2.3\n": true, "0.1.0-rc.1\n": true, "1.2": false, "v1.2.3\n": false, "1.2.3+x\n": false, "1.2.3\n\n": false, "01.2.3": false,
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(dir+"/VERSION", []byte(text), 0o600))
		_, err := version(dir)
		assert.Equal(t, good, err == nil, "%q: %v", text, err)
	}
}

// The programs report the build's version, which comes from the file VERSION.
func TestProgramsReportTheVersion(t *testing.T) {
	t.Parallel()
	v, err := version(repo)
	require.NoError(t, err)
	makefile, err := os.ReadFile(repo + "/Makefile")
	require.NoError(t, err)
	assert.Contains(t, string(makefile), "\nVERSION := $(shell cat VERSION)\n")
	dir := t.TempDir()
	for _, image := range recipe.Images {
		args := append([]string{"build", "-o", dir + "/"}, recipe.BuildArgs(recipe.Stamp{Image: image, Version: v, Commit: "4f8c2d1"})...)
		for _, name := range image.Programs {
			args = append(args, "./cmd/"+name)
		}
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = filepath.Join(repo, image.Dir)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		for _, name := range image.Programs {
			asked := []string{"--version"}
			if name == "ipamctl" {
				asked = []string{"version", "--client"}
			}
			out, err := exec.CommandContext(t.Context(), filepath.Join(dir, name), asked...).Output()
			require.NoError(t, err, name)
			assert.Contains(t, strings.Fields(strings.ReplaceAll(string(out), ",", "")), v, name)
			assert.Contains(t, string(out), "4f8c2d1", name)
		}
	}
}
