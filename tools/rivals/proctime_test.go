package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStatIsReadWhateverTheNameIs(t *testing.T) {
	t.Parallel()
	const rest = " S 41 42 42 0 -1 4194560 1000 2000 0 0 7 5 300 20 20 0 1 0 100 1000000 500"
	for _, c := range []struct{ name, text string }{
		{"Plain", "(postgres)"},
		{"WithSpaces", "(postgres: carve cell_1 [local] idle)"},
		{"WithBrackets", "(a) R 1 (b)"},
		{"WithANewLine", "(a\nb)"},
		{"Empty", "()"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := parseStat([]byte("42 " + c.text + rest + "\n"))
			require.NoError(t, err)
			require.Equal(t, processStat{pid: 42, parent: 41, own: 12, ended: 320}, got)
		})
	}
}

func TestBrokenStatIsAnError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text string }{
		{"Nothing", ""},
		{"NoName", "42 postgres S 41"},
		{"BracketsTheWrongWayRound", "42 )postgres( S 41 42 42 0 -1 4194560 1000 2000 0 0 7 5 300 20 20"},
		{"CutShort", "42 (postgres) S 41 42 42 0 -1 4194560 1000 2000 0 0 7 5"},
		{"NoProcess", "x (postgres) S 41 42 42 0 -1 4194560 1000 2000 0 0 7 5 300 20 20"},
		{"NoParent", "42 (postgres) S x 42 42 0 -1 4194560 1000 2000 0 0 7 5 300 20 20"},
		{"NoTime", "42 (postgres) S 41 42 42 0 -1 4194560 1000 2000 0 0 7 x 300 20 20"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := parseStat([]byte(c.text))
			require.Error(t, err)
		})
	}
}

// The family of a child of this test is this test with all of its children.
func TestFamilyTimeIsThatOfTheParent(t *testing.T) {
	t.Parallel()
	child := exec.CommandContext(t.Context(), "cat")
	in, err := child.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	before, err := familyTime(child.Process.Pid)
	require.NoError(t, err)
	raw, err := os.ReadFile("/proc/self/stat")
	require.NoError(t, err)
	own, err := parseStat(raw)
	require.NoError(t, err)
	require.Equal(t, os.Getpid(), own.pid)
	after, err := familyTime(child.Process.Pid)
	require.NoError(t, err)
	require.LessOrEqual(t, before, after, "time that was used is not taken back")
	require.NoError(t, in.Close())
	require.NoError(t, child.Wait())
	_, err = familyTime(child.Process.Pid)
	require.Error(t, err, "it is gone")
}
