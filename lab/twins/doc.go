// Package twins builds servers that lack one protection, which an instrument has to catch, or it proves nothing (docs/evidence.md). The product has no
// switch for it: a server of all twins is built with `go build -overlay` from sources in which each protection can be taken away (Sources), and Variable
// in its environment chooses one. Without the variable it does what the product does. Its clock can be off, too (package skew).
//
//	bin/faults twins bin/twin
//	go build -overlay bin/twin/overlay.json -o bin/twin/server ./cmd/server
package twins
