// Package twins builds servers that lack one protection. A test suite must detect each twin. Otherwise the suite proves nothing about that protection
// (docs/evidence.md). The product has no switch to disable a protection. Instead, `go build -overlay` builds one server for all twins from modified
// sources (Sources). The environment variable Variable selects the twin. Without the variable, the server behaves as the product. Its clock is
// adjustable too (package skew).
//
//	bin/faults twins bin/twin
//	go build -overlay bin/twin/overlay.json -o bin/twin/server ./cmd/server
package twins
