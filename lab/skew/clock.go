package skew

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Variable is the environment variable with the path of the program's clock file.
const Variable = "CLOCK_SHIFT_FILE"

// Clock is the file that contains the shift of a program's clock.
type Clock struct {
	path string
	data []byte
}

// size is the size of the file. It contains one number of nanoseconds.
const size = 8

// NewClock makes a clock without a shift in a new file.
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

// Set sets the shift. If it is positive, the clock is ahead. Running programs see the new shift immediately.
func (c *Clock) Set(ahead time.Duration) { atomic.StoreInt64(c.shift(), int64(ahead)) }

// Ahead returns the clock's shift.
func (c *Clock) Ahead() time.Duration { return time.Duration(atomic.LoadInt64(c.shift())) }

// Environ returns the environment entry that gives a program this clock.
func (c *Clock) Environ() string { return Variable + "=" + c.path }

// Close unmaps the file in this process. Running programs can still read it.
func (c *Clock) Close() error { return syscall.Munmap(c.data) }

func (c *Clock) shift() *int64 { return (*int64)(unsafe.Pointer(&c.data[0])) } //nolint:gosec // the page is aligned, and as long
