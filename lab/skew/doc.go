// Package skew builds programs with an adjustable clock, like a machine without a time service. It shifts the time of day in time.Now, but not the
// monotonic time, so that deadlines, timers and durations stay correct. The product has no switch for it. `go build -overlay` builds the program from
// a time package that differs in one place (Sources). The program reads its shift from a file that other processes may write while it runs (Clock).
// Without the environment variable Variable, its clock is right.
//
//	bin/faults clock bin/skewed
//	go build -overlay bin/skewed/overlay.json -o bin/skewed/server ./cmd/server
package skew
