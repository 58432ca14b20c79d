package skew

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Variable is where a program finds the file of its clock.
const Variable = "CLOCK_SHIFT_FILE"

// Clock is the file that says how far the clock of a program is off.
type Clock struct {
	path string
	data []byte
}

// size is that of the file: a number of nanoseconds.
const size = 8

// NewClock makes a clock that is right, in a new file.
func NewClock(path string) (_ *Clock, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := file.Truncate(size); err != nil {
		return nil, err
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	return &Clock{path: path, data: data}, err
}

// Set puts the clock ahead of the time that it is, or behind it. Programs that run follow at once.
func (c *Clock) Set(ahead time.Duration) { atomic.StoreInt64(c.shift(), int64(ahead)) }

// Ahead is how far the clock is ahead.
func (c *Clock) Ahead() time.Duration { return time.Duration(atomic.LoadInt64(c.shift())) }

// Environ is what a program needs in its environment to have this clock.
func (c *Clock) Environ() string { return Variable + "=" + c.path }

// Close lets go of the file, which programs that run still read.
func (c *Clock) Close() error { return syscall.Munmap(c.data) }

func (c *Clock) shift() *int64 { return (*int64)(unsafe.Pointer(&c.data[0])) } //nolint:gosec // the page is aligned, and as long
