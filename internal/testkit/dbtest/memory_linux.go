package dbtest

import "syscall"

const (
	memoryDir   = "/dev/shm"
	tmpfsMagic  = 0x01021994
	memoryFloor = 2 << 30 // bytes that must be free; a test process takes some hundred megabytes at most
)

// inMemory is a directory in memory, or empty where there is none with room. Copying
// and dropping a database for each test is creating and deleting hundreds of files: measured on one
// machine, 25 ms a test in memory and 140 ms on ext4, without fsync in both.
func inMemory() string {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memoryDir, &fs); err != nil || fs.Type != tmpfsMagic || fs.Bavail*uint64(max(fs.Bsize, 0)) < memoryFloor {
		return ""
	}
	return memoryDir
}
