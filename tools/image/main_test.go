package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestInvalidArgumentsAreRefused(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"Nothing":        {nil, 2, "licences"},
		"UnknownCommand": {[]string{"bake"}, 2, "build"},
		"Help":           {[]string{"build", "--help"}, 0, ""},
		"WrongEpoch":     {[]string{"build"}, 1, "SOURCE_DATE_EPOCH"},
		"NoCheckout":     {[]string{"licences", "--repo=/"}, 1, "in no checkout"},
		"NoDirectory":    {[]string{"rootfs"}, 1, "--out"},
		"PushNowhere":    {[]string{"push"}, 1, "where to?"},
		"PushNoLayout":   {[]string{"push", "--layout=" + t.TempDir(), "127.0.0.1:1/carve:v1"}, 1, "no image layout"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, said bytes.Buffer
			assert.Equal(t, c.code, run(t.Context(), c.args, &out, &said), said.String())
			assert.Contains(t, said.String(), c.says)
		})
	}
}

func TestRootfsHasItsModesUnderAnyUmask(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "image")
	var out, said bytes.Buffer
	assert.Zero(t, run(t.Context(), []string{"rootfs", "--out=" + dir}, &out, &said), said.String())
	info, err := os.Stat(filepath.Join(dir, "tmp"))
	if assert.NoError(t, err) {
		assert.Equal(t, os.ModeDir|os.ModeSticky|0o777, info.Mode())
	}
	info, err = os.Stat(filepath.Join(dir, "etc", "passwd"))
	if assert.NoError(t, err) {
		assert.Equal(t, os.FileMode(0o644), info.Mode())
	}
}
