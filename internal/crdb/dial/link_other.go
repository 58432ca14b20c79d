//go:build !linux

package dial

import (
	"syscall"
	"time"
)

// giveUpAfter does nothing, because only Linux has this option.
func giveUpAfter(time.Duration) func(network, address string, c syscall.RawConn) error { return nil }
