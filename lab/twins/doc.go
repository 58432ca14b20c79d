// Package twins builds servers that lack one protection. A test instrument has to detect each twin, or the instrument proves nothing
// (docs/evidence.md). The product has no switch for it: `go build -overlay` builds one server for all twins from sources in which each protection can
// be disabled (Sources). The environment variable Variable selects a twin. Without the variable, the server behaves as the product. Its clock is
// adjustable too (package skew).
//
//	bin/faults twins bin/twin
//	go build -overlay bin/twin/overlay.json -o bin/twin/server ./cmd/server
package twins
