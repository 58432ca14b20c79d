package main

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestList(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte("package a\n" + text)} }
	line, err := list(fstest.MapFS{
		"a/direct_test.go":       file("func TestGo() { go f() }\nfunc TestGroup() { g.Go(f) }"),
		"a/wait_test.go":         file("func TestWaitGroup() { var w sync.WaitGroup; w.Wait() }\nfunc TestGeneric() { generic[int]() }"),
		"a/helped_test.go":       file("func TestCalls() { x.helper() }\nfunc TestPasses() { run(middle) }"),
		"a/table_test.go":        file("func TestTable() { table() }\nfunc TestAlone() { f() }\nvar table = func() { middle() }"),
		"a/helper_test.go":       file("func (s) helper() { go f() }\nfunc middle() { helper() }\nfunc generic[T any]() { middle() }"),
		"b/named_test.go":        file("func TestConcurrentReads() {}\nfunc TestCalls() {}"),
		"c/same_test.go":         file("func TestGo() {}\nfunc TestOther() {}"),
		"d/alone_test.go":        file("func TestAlone() { helper() }"),
		"d/code.go":              file("func helper() { go f() }"),
		"nested/go.mod":          file(""),
		"nested/other_test.go":   file("func TestNested() { go f() }"),
		"a/testdata/b_test.go":   file("func TestData() { go f() }"),
		"node_modules/b_test.go": file("func TestModule() { go f() }"),
	})
	require.NoError(t, err)
	require.Equal(t, "^(TestCalls|TestConcurrentReads|TestGeneric|TestGo|TestGroup|TestPasses|TestTable|TestWaitGroup)$ ./a ./b ./c", line)
}

func TestListRefusesBrokenCode(t *testing.T) {
	t.Parallel()
	_, err := list(fstest.MapFS{"a_test.go": {Data: []byte("package")}})
	require.Error(t, err)
}
