// Package skew builds programs whose clock can be off, as that of a machine without a time service is: what time.Now says of the time of day is shifted,
// what it says of time that passes is not, so that deadlines, timers and durations are as ever. The product has no switch for it. The program is built with
// `go build -overlay` from a time package that differs in one place (Sources), and reads how far it is off from a file that others may write while it runs
// (Clock). Without the variable Variable in its environment such a program tells the time that it is.
//
//	bin/faults clock bin/skewed
//	go build -overlay bin/skewed/overlay.json -o bin/skewed/server ./cmd/server
package skew
