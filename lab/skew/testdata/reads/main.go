// Command reads prints its clock's readings, once for each input line.
package main

import (
	"bufio"
	"fmt"
	"os"
	"time"
)

func main() {
	began := time.Now()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		now := time.Now()
		timer := time.NewTimer(time.Millisecond)
		rang := <-timer.C
		fmt.Println(now.UnixNano(), time.Now().UTC().Round(0).UnixNano(), rang.UnixNano(), int64(time.Since(began)), int64(time.Until(began)), os.Getenv("CLOCK_SHIFT_FILE"))
	}
}
