//go:build !linux

package dial

import (
	"syscall"
	"time"
)

// giveUpAfter: only Linux has it.
func giveUpAfter(time.Duration) func(network, address string, c syscall.RawConn) error { return nil }
