package licences

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/tools/image/programs"
)

func TestEveryShippedComponentHasAnAcceptedLicence(t *testing.T) {
	t.Parallel()
	repo, err := programs.Repository(".")
	require.NoError(t, err)
	components, err := Scan(t.Context(), repo)
	require.NoError(t, err)
	require.NoError(t, Bundled(repo, components))
	assert.NoError(t, Refused(components))
	have, err := os.ReadFile(filepath.Join(repo, "THIRD_PARTY_LICENSES"))
	require.NoError(t, err)
	assert.Equal(t, Notices(components), string(have), "make licences")
	for _, c := range components {
		assert.NotEmpty(t, c.In, c.Name)
		if c.Kind != NPM || slices.Contains(c.In, "server") {
			assert.NotEmpty(t, c.Texts, "%s: the text goes with it", c.Name)
		}
	}
	t.Logf("%d components", len(components))
}

func TestUnacceptedLicenceIsRefused(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"GPL-3.0", "AGPL-3.0", "LGPL-2.1", "BUSL-1.1", "NOASSERTION"} {
		err := Refused([]Component{{Name: "example.com/a", Version: "v1.0.0", Licences: []string{"MIT", id}, In: []string{"server"}}})
		assert.ErrorContains(t, err, id)
		assert.ErrorContains(t, err, "example.com/a v1.0.0 (in server)")
	}
	assert.ErrorContains(t, Refused([]Component{{Name: "example.com/a"}}), "no licence")
	assert.NoError(t, Refused([]Component{{Name: "example.com/a", Licences: []string{"MIT", "Apache-2.0"}}}))
}

// copyleft is a part of a licence that is long enough to recognise it, from the Go module with the texts of all licences.
const copyleft = `GNU GENERAL PUBLIC LICENSE
Version 3, 29 June 2007

This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public License as
published by the Free Software Foundation, either version 3 of the License, or (at your option) any later version.

This program is distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY; without even the implied warranty of
MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE. See the GNU General Public License for more details.

You should have received a copy of the GNU General Public License along with this program. If not, see
https://www.gnu.org/licenses/.
`

func TestTextWithoutAClearLicenceIsAnError(t *testing.T) {
	t.Parallel()
	repo, err := programs.Repository(".")
	require.NoError(t, err)
	apache, err := os.ReadFile(filepath.Join(repo, "LICENSE"))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		text, says string
		ids        []string
	}{
		"OurOwn":       {string(apache), "", []string{"Apache-2.0"}},
		"NoLicence":    {"All rights reserved. Do not use.", "no licence is recognised", nil},
		"MostlyOther":  {strings.Repeat("You may not use it on Tuesdays, nor for gain, nor with friends. ", 400) + string(apache), "only ", nil},
		"NothingThere": {"", "no licence is recognised", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ids, err := classify([]byte(c.text))
			if c.says != "" {
				assert.ErrorContains(t, err, c.says)
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, c.ids, ids)
		})
	}
}

func TestPackageInAModuleMayHaveItsOwnLicence(t *testing.T) {
	t.Parallel()
	repo, err := programs.Repository(".")
	require.NoError(t, err)
	apache, err := os.ReadFile(filepath.Join(repo, "LICENSE"))
	require.NoError(t, err)
	module := fstest.MapFS{
		"LICENSE":           {Data: apache},
		"NOTICE":            {Data: []byte("Copyright somebody")},
		"license.go":        {Data: []byte("package a")},
		"vendored/COPYING":  {Data: []byte(copyleft)},
		"licences/list.txt": {Data: []byte("a directory is no licence")},
	}
	c := &Component{Name: "example.com/a"}
	for _, dir := range []string{"vendored", "."} {
		licensed, err := c.read(module, dir)
		assert.NoError(t, err)
		assert.True(t, licensed, dir)
	}
	assert.Len(t, c.Texts, 3)
	assert.ErrorContains(t, Refused([]Component{*c}), "GPL-3.0")
	licensed, err := c.read(module, "licences")
	assert.NoError(t, err)
	assert.False(t, licensed)
}

func TestLicencesInBundleCommentsAreRead(t *testing.T) {
	t.Parallel()
	ids, err := banner("/*! a. MIT License. */\n/** b, released under the Apache license 2.0 and Mozilla Public License 2.0 */")
	assert.NoError(t, err)
	assert.Equal(t, []string{"MIT", "Apache-2.0", "MPL-2.0"}, ids)
	_, err = banner("/*! a. MIT License. */ /*! b. Copyright somebody. */")
	assert.ErrorContains(t, err, "b. Copyright somebody.")
	_, err = banner("")
	assert.Error(t, err)
	ids, err = banner("/* c, GPL */")
	assert.NoError(t, err)
	assert.ErrorContains(t, Refused([]Component{{Name: "c", Licences: ids}}), "GPL")
}
