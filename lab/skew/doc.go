// Package skew builds programs with an adjustable clock, as on a machine without a time service. It shifts the time of day in time.Now, but not the
// monotonic time. So deadlines, timers and durations stay correct. The product has no switch for a shift. Instead, `go build -overlay` builds the
// program from a time package that differs in one place (Sources). The program reads the shift from a file, which other processes may write at any
// time (Clock). Without the environment variable Variable, the clock has no shift.
//
//	bin/faults clock bin/skewed
//	go build -overlay bin/skewed/overlay.json -o bin/skewed/server ./cmd/server
package skew
